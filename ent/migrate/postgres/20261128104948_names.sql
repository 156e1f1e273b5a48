-- +goose Up
-- compatible-with: 20261122012914
ALTER TABLE "projects" ADD COLUMN "name_key" character varying NOT NULL DEFAULT '', ADD COLUMN "search_text" character varying NOT NULL DEFAULT '';
-- Names of other letters are folded by the server, because the databases fold these in ways of their own. The rows are
-- those of all organizations, which only the owner of the table may change, and only without FORCE.
ALTER TABLE "projects" NO FORCE ROW LEVEL SECURITY;
UPDATE "projects" SET "name_key" = encode(convert_to(lower("name" COLLATE "C"), 'UTF8'), 'hex'),
  "search_text" = lower(("name" || E'\n' || "slug") COLLATE "C")
WHERE octet_length("name") = char_length("name");
ALTER TABLE "projects" FORCE ROW LEVEL SECURITY;
