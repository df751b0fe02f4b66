/// A way for a request to get its answer. To add one, conform a type and add a case to `WayKind`.
package protocol Way: Sendable {
    var kind: WayKind { get }

    /// The observed lines for a behaviour whose origin listens at a URL.
    func lines(of behaviour: Behaviour, at origin: String) async throws -> [String]
}
