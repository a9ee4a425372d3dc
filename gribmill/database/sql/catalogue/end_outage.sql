DELETE FROM outages WHERE family = :family
