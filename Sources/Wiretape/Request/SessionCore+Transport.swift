extension SessionCore {
    /// Of a request that is made now.
    var transportOfNow: any Transport {
        self.transport ?? Cassette.current?.transport(around: self.network) ?? FallbackTransport.transport(around: self.network)
    }
}

extension Session.Configuration {
    /// Nil where the shared transport has all that is wanted.
    var ownNetwork: LiveTransport? {
        guard self.serverTrust != nil || self.cachedResponseHandler != nil else { return nil }
        return LiveTransport(
            configuration: self.cachedResponseHandler == nil ? .ephemeral : .default, serverTrust: self.serverTrust,
            cachedResponseHandler: self.cachedResponseHandler)
    }
}
