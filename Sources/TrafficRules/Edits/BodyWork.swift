package import CassetteModel

/// Tells which work on a body an event loop may do by itself.
package enum BodyWork {
    /// Bytes that are searched or edited within about a millisecond.
    private static let quick = 64 << 10

    /// Whether work on a body may take so long that the other connections of an event loop wait for it. A body with a content coding may
    /// decode to any size.
    ///
    /// - Parameter size: bytes as sent, without the transfer coding.
    package static func isLong(_ size: Int, _ headers: HeaderFields) -> Bool {
        size > self.quick || size > 0 && headers.contains("content-encoding")
    }
}
