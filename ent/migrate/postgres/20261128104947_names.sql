-- +goose Up
-- compatible-with: 20261122012914
ALTER TABLE "organizations" ADD COLUMN "search_text" character varying NOT NULL DEFAULT '';
-- Names of other letters are folded by the server, because the databases fold these in ways of their own.
UPDATE "organizations" SET "search_text" = lower(("name" || E'\n' || "slug") COLLATE "C")
WHERE octet_length("name") = char_length("name");
