package import CassetteModel
internal import CassetteRedaction

/// How a gRPC call ended (gRPC, "Status codes and their use in gRPC").
package struct GRPCStatus: Sendable, Hashable {
    package var code: Int

    /// Indexed by code.
    private static let names = [
        "OK", "CANCELLED", "UNKNOWN", "INVALID_ARGUMENT", "DEADLINE_EXCEEDED", "NOT_FOUND", "ALREADY_EXISTS", "PERMISSION_DENIED",
        "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION", "ABORTED", "OUT_OF_RANGE", "UNIMPLEMENTED", "INTERNAL", "UNAVAILABLE", "DATA_LOSS",
        "UNAUTHENTICATED",
    ]

    /// For error messages.
    package static let known = Self.names.enumerated().map { "\($0) \($1)" }.joined(separator: ", ")

    /// - Parameter word: a code, or a name in any case, with or without `_`.
    package init?(_ word: String) {
        if let code = Int(word), code >= 0 {
            self.code = code
            return
        }
        func plain(_ name: String) -> String { name.lowercased().filter { $0 != "_" && $0 != "-" } }
        guard let code = Self.names.firstIndex(where: { plain($0) == plain(word) }) else { return nil }
        self.code = code
    }

    /// The status of a gRPC answer, from its trailers, or from its head if they have none. Nil if there is none.
    package init?(_ response: RecordedResponse?) {
        guard let response, GRPCType(response.headers) != nil else { return nil }
        let fields = response.trailers.flatMap { $0.contains("grpc-status") ? $0 : nil } ?? response.headers
        guard let word = fields.first("grpc-status"), let code = Int(word), code >= 0 else { return nil }
        self.code = code
    }

    /// The message of an answer, percent-decoded (gRPC over HTTP2, "Status-Message"); nil if there is none.
    package static func words(_ response: RecordedResponse) -> String? {
        let fields = response.trailers.flatMap { $0.contains("grpc-message") ? $0 : nil } ?? response.headers
        guard let text = fields.first("grpc-message"), !text.isEmpty else { return nil }
        return Array(text.utf8).withUnsafeBytes { Finding.Spelling.query.decode($0) }.map { String(decoding: $0, as: UTF8.self) }
    }

    /// `NOT_FOUND`, or the code if it has no name.
    package var name: String { Self.names.indices.contains(self.code) ? Self.names[self.code] : "\(self.code)" }

    /// The HTTP status with roughly the same meaning (google.rpc.Code), for its colour.
    package var likeHTTP: Int {
        switch self.code {
        case 0: 200
        case 1, 3, 5, 6, 7, 8, 9, 10, 11, 16: 400
        default: 500
        }
    }
}
