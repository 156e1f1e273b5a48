\set e random(1, 999)
\set o :e % 50
SELECT d.id, d.deployment_type, d.trigger_source, d.created_at, i.id, i.name, r.id, r.created_at FROM deployments d JOIN module_instances i ON i.id = d.module_instance_id LEFT JOIN deployments r ON r.id = d.rollback_to_deployment_id WHERE d.organization_id = 'org_' || lpad(:o::text, 26, '0') AND d.environment_id = 'env_' || lpad(:e::text, 26, '0') ORDER BY d.created_at DESC, d.id DESC LIMIT 51;
