module gmp-benches-go

go 1.19
