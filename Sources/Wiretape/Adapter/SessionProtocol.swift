#if canImport(FoundationNetworking)
internal import FoundationNetworking
#else
internal import Foundation
#endif

/// The class of one configuration: its identity says which session a request belongs to, so that requests need no mark.
///
/// Everything it does is done by `LoadingProtocol`.
final class SessionProtocol<Number: BinaryNumber.Digits>: LoadingProtocol {
    /// The class of that number. The system keeps classes for as long as the process lives: some 900 octets each.
    static func numbered(_ number: UInt) -> LoadingProtocol.Type where Number == BinaryNumber.Zero {
        func open<Other: BinaryNumber.Digits>(_: Other.Type) -> LoadingProtocol.Type { SessionProtocol<Other>.self }
        return open(BinaryNumber.type(of: number))
    }
}
