-- name: claim_refresh
INSERT INTO refresh_leases (user_key, agent_key, holder, lease_until)
VALUES (:user_key, :agent_key, :holder, :lease_until)
ON CONFLICT (user_key, agent_key)
DO UPDATE SET holder = excluded.holder, lease_until = excluded.lease_until
WHERE refresh_leases.lease_until < :now;

-- name: renew_refresh
UPDATE refresh_leases SET lease_until = :lease_until
WHERE user_key = :user_key AND agent_key = :agent_key AND holder = :holder;

-- name: release_refresh
DELETE FROM refresh_leases WHERE user_key = :user_key AND agent_key = :agent_key AND holder = :holder;
