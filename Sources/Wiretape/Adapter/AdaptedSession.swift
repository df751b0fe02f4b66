internal import Foundation

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// What stands behind the class of a configuration.
struct AdaptedSession: Sendable {
    enum Answers: Sendable {
        /// - Parameter inPlace: it may be asked on the queue that all URL sessions of the process share: it answers at once or by itself
        ///   later, and uses no URL session on the way.
        case transport(any Transport, inPlace: Bool)
        /// Its cassette is closed: why nothing is answered any more.
        case none(String)
    }

    var answers: Answers
    /// As it was handed out; its user may have changed it before the session was made.
    let configuration: URLSessionConfiguration
    /// The cassette that ends it, by identity.
    let cassette: ObjectIdentifier?
}
