#!/bin/sh
# Makes the role and the database of Slipway: row-level security does not apply to a superuser.
set -eu
psql --username "$POSTGRES_USER" --set ON_ERROR_STOP=1 --set password="$SLIPWAY_DATABASE_PASSWORD" <<'SQL'
CREATE ROLE slipway LOGIN NOSUPERUSER NOBYPASSRLS PASSWORD :'password';
CREATE DATABASE slipway OWNER slipway;
SQL
