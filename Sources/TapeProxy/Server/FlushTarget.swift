/// A connection with octets written and not yet handed to the kernel.
protocol FlushTarget: AnyObject {
    func flushNow()
}
