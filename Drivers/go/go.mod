module example.test/wiretape/drivers/go

go 1.19
