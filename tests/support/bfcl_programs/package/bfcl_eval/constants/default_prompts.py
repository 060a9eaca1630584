"""What is said beside the questions."""

MAXIMUM_STEP_LIMIT = 3
DEFAULT_USER_PROMPT_FOR_ADDITIONAL_FUNCTION_FC = "There are further functions now."
