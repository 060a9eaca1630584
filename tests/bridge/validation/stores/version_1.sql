PRAGMA application_id = 1953460076;
PRAGMA user_version = 1;
PRAGMA journal_mode = WAL;
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
INSERT INTO "trials" VALUES(1,'offline/keyword','default','weather','2026-11-21T10:00:00.123Z',1,'','{"query":"weather"}',157457183);
INSERT INTO "trials" VALUES(2,'prompt:ollama/gemma3','default','a sum','2026-11-21T10:00:00.123Z',0,'get_weather was not called (no tool was)','{"query":"a sum"}',4204586938);
COMMIT;
