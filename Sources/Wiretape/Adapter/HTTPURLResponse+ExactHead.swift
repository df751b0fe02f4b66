#if canImport(FoundationNetworking)
public import FoundationNetworking
#else
public import Foundation
#endif

extension HTTPURLResponse {
    /// The head exactly as it came: duplicate fields apart, in order, in their own spelling, and which exchange of a cassette it is.
    ///
    /// - Returns: nil for a response that no session of ours has made, or where the system has put a copy of its own in its place.
    public var exactHead: HTTPResponse? { (self as? TapedURLResponse)?.head }
}
