-- name: claim_lease
INSERT INTO leases (user_key, work, about, holder, lease_until)
VALUES (:user_key, :work, :about, :holder, now_micros() + :duration)
ON CONFLICT (user_key, work, about)
DO UPDATE SET holder = excluded.holder, lease_until = excluded.lease_until
WHERE leases.lease_until < now_micros();

-- name: renew_lease
UPDATE leases SET lease_until = now_micros() + :duration
WHERE user_key = :user_key AND work = :work AND about = :about AND holder = :holder;

-- name: find_holder
SELECT holder FROM leases
WHERE user_key = :user_key AND work = :work AND about = :about AND lease_until >= now_micros();

-- name: release_lease
DELETE FROM leases WHERE user_key = :user_key AND work = :work AND about = :about AND holder = :holder;

-- name: wipe_dream_leases
DELETE FROM leases WHERE user_key = :user_key AND work = 'dream';
