-- +goose Up
-- compatible-with: 29990102000000
ALTER TABLE "deployments" DROP COLUMN "description";
