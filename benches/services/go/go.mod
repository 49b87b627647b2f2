module services

go 1.25
