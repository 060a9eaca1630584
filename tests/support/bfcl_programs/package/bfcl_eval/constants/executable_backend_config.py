"""Where the classes and their functions are described."""

MULTI_TURN_FUNC_DOC_FILE_MAPPING = {"Counter": "counter.json", "MemoryAPI_kv": "none.json"}
CLASS_FILE_PATH_MAPPING = {"Counter": "bfcl_eval.counter"}
