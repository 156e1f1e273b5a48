-- +goose Up
-- compatible-with: 20261122012914
-- cloud_event_subject, cloud_event_deployment and cloud_event_waiting are in its place.
DROP INDEX "cloud_event_service";
