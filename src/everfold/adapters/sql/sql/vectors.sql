-- name: count_all_vectors
SELECT count(*) FROM vectors WHERE user_key = :user_key;
