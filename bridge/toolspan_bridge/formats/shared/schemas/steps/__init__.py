"""The steps of which a format's ``Plan`` is made: each changes every subschema that it applies to."""
