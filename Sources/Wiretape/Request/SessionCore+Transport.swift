extension SessionCore {
    /// Of a request that is made now.
    var transportOfNow: any Transport {
        self.transport ?? Cassette.current?.transport(around: self.network.recorded)
            ?? FallbackTransport.transport(around: self.network.unrecorded)
    }
}
