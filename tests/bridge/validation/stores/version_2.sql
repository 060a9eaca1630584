-- A store as version 2 wrote it: trials without a fingerprint, and the choice of a wording.
PRAGMA application_id = 0x746F6F6C;
PRAGMA user_version = 2;
BEGIN TRANSACTION;
CREATE TABLE trials (
  id INTEGER PRIMARY KEY,
  model_id TEXT NOT NULL,
  suite TEXT NOT NULL,
  scenario TEXT NOT NULL,
  timestamp TEXT NOT NULL,
  success INTEGER NOT NULL,
  error TEXT NOT NULL,
  details TEXT NOT NULL,
  checksum INTEGER NOT NULL
);
INSERT INTO "trials" VALUES(1,'offline/keyword','default','weather in Paris','2026-11-21T10:00:00.123Z',1,'','{"query":"What''s the weather in Paris?","duration_ms":3,"tool_calls":[{"tool":"get_weather","arguments":{"location":"Paris"},"result":{"success":true},"iteration":1}],"cost":{"usd":0.0},"rescued":0}',3792602046);
INSERT INTO "trials" VALUES(2,'offline/keyword','default','2+2','2026-11-21T10:00:01.456Z',0,'the answer does not contain ''4'' (it is ''five'')','{"query":"What''s 2+2?"}',1301181642);
INSERT INTO "trials" VALUES(3,'prompt:ollama/gemma3','sums','ein Bär · 🐻','2026-11-21T10:00:02.789Z',0,'get_weather was not called (no tool was)','{"usage":{"input_tokens":9,"output_tokens":1}}',3813158981);
CREATE TABLE wordings (model_id TEXT PRIMARY KEY, choice TEXT NOT NULL);
INSERT INTO "wordings" VALUES('ollama/gemma3','{"model_id": "ollama/gemma3", "wording": "json-tools", "better": "prompt", "native": {"test_count": 4, "success_count": 2, "tokens": 300}, "wordings": {"rules-first": {"test_count": 4, "success_count": 3, "tokens": 400}, "tools-first": {"test_count": 4, "success_count": 3, "tokens": 400}, "tools-first-brief": {"test_count": 4, "success_count": 3, "tokens": 400}, "json-tools": {"test_count": 4, "success_count": 3, "tokens": 400}}, "timestamp": "2026-11-21T10:00:03.000Z"}');
COMMIT;
