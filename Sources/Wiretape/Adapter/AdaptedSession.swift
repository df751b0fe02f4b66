internal import Foundation

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// What stands behind the class of a configuration.
///
/// Lives as long as the configuration, its copies and their sessions do, which carry it: a cassette that nobody holds any more can close.
final class AdaptedSession: Sendable {
    /// Under this key a configuration carries it, among settings for proxies, which sessions that are answered by us have no use for.
    private static let key = "WiretapeSession"

    let transport: any Transport
    /// It may be asked on the queue that all URL sessions of the process share: it answers at once or by itself later, and uses no URL
    /// session on the way.
    let isInPlace: Bool
    private let copy: URLSessionConfiguration
    // SAFETY: set once, before anybody else knows of this object; to read a weak reference is atomic.
    private nonisolated(unsafe) weak var original: URLSessionConfiguration?

    /// Puts itself behind a configuration.
    init(_ transport: any Transport, isInPlace: Bool, configuration: URLSessionConfiguration) {
        (self.transport, self.isInPlace) = (transport, isInPlace)
        self.copy = configuration.copy() as? URLSessionConfiguration ?? .ephemeral
        self.original = configuration
        configuration.connectionProxyDictionary = (configuration.connectionProxyDictionary ?? [:]).merging([Self.key: self]) { $1 }
    }

    /// As its user has it, or as it was handed out where he has let go of it.
    var configuration: URLSessionConfiguration { self.original ?? self.copy }
}
