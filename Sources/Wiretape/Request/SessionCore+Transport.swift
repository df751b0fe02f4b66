extension SessionCore {
    /// Of a request that is made now.
    var transportOfNow: any Transport { self.transport ?? Cassette.current?.transport ?? FallbackTransport.shared }
}
