/// A way for a request to get its answer. Others plug in theirs: a type that conforms, and a case in `WayKind`.
package protocol Way: Sendable {
    var kind: WayKind { get }

    /// What came, as lines, of a behaviour whose origin listens at a URL.
    func lines(of behaviour: Behaviour, at origin: String) async throws -> [String]
}
