-- A store as version 3 wrote it: trials with a fingerprint, and the choice of a wording.
PRAGMA application_id = 0x746F6F6C;
PRAGMA user_version = 3;
BEGIN TRANSACTION;
CREATE TABLE fingerprints (digest TEXT PRIMARY KEY, parts TEXT NOT NULL);
INSERT INTO "fingerprints" VALUES('45b57b33fede3c812395737cd79f172da20c09da44578c38e4375a3e27b63355','{"base_url":"http://localhost:11434","format":"ollama","mode":"native","model":"gemma3","model_version":"sha256:abc","provider":"ollama","sampling":"","suite":"s1","tools":"t1","toolspan":"0.2.0","wording":""}');
CREATE TABLE trials (
  id INTEGER PRIMARY KEY,
  model_id TEXT NOT NULL,
  suite TEXT NOT NULL,
  scenario TEXT NOT NULL,
  timestamp TEXT NOT NULL,
  success INTEGER NOT NULL,
  error TEXT NOT NULL,
  details TEXT NOT NULL,
  checksum INTEGER NOT NULL,
  fingerprint TEXT NOT NULL DEFAULT ''
);
INSERT INTO "trials" VALUES(1,'offline/keyword','default','weather in Paris','2026-11-21T10:00:00.123Z',1,'','{"query":"weather in Paris"}',620051584,'');
INSERT INTO "trials" VALUES(2,'ollama/gemma3','sums','ein Bär · 🐻','2026-11-21T10:00:01.456Z',1,'','{"usage":{"input_tokens":9,"output_tokens":1}}',760632449,'45b57b33fede3c812395737cd79f172da20c09da44578c38e4375a3e27b63355');
INSERT INTO "trials" VALUES(3,'ollama/gemma3','sums','2+2','2026-11-21T10:00:02.789Z',0,'the answer does not contain ''4'' (it is ''five'')','{"query":"What''s 2+2?"}',4119670140,'45b57b33fede3c812395737cd79f172da20c09da44578c38e4375a3e27b63355');
CREATE TABLE wordings (model_id TEXT PRIMARY KEY, choice TEXT NOT NULL);
INSERT INTO "wordings" VALUES('ollama/gemma3','{"model_id": "ollama/gemma3", "wording": "json-tools", "better": "prompt", "native": {"test_count": 4, "success_count": 2, "tokens": 300}, "wordings": {"json-tools": {"test_count": 4, "success_count": 3, "tokens": 400}, "rules-first": {"test_count": 4, "success_count": 3, "tokens": 400}, "tools-first": {"test_count": 4, "success_count": 3, "tokens": 400}, "tools-first-brief": {"test_count": 4, "success_count": 3, "tokens": 400}}, "timestamp": "2026-11-21T10:00:03.000Z"}');
CREATE INDEX trials_by_record ON trials (model_id, suite, fingerprint, success, timestamp);
COMMIT;
