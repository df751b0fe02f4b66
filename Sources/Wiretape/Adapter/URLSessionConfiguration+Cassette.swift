#if canImport(FoundationNetworking)
public import FoundationNetworking
#else
public import Foundation
#endif

extension URLSessionConfiguration {
    /// A configuration whose sessions are answered from a cassette, whatever the cassette's mode: nothing of theirs reaches the network.
    ///
    ///     let session = URLSession(configuration: .replaying(cassette))
    ///
    /// A request that nothing recorded answers fails with the report of the miss as its description. Matchers of the cassette's settings
    /// run on the queue of URLSession: they must not use it. The configuration and its sessions keep the cassette. See
    /// `answered(by:basedOn:inPlace:)` for what the platforms allow.
    ///
    /// - Parameter base: copied; an ephemeral one shares no cookies and no credentials with other tests.
    public static func replaying(_ cassette: Cassette, basedOn base: URLSessionConfiguration = .ephemeral) -> URLSessionConfiguration {
        .answered(by: ReplayTransport(cassette), basedOn: base, inPlace: true)
    }
}
