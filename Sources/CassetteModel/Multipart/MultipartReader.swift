/// Makes a `MultipartBody` of a body that comes in pieces, with parts within parts. Their data is told as ranges of the body.
///
/// Keeps header sections and what stands around the parts, never data.
public struct MultipartReader: ~Copyable {
    private let level: MultipartLevel

    public init(boundary: MultipartBoundary, limits: MultipartLimits = MultipartLimits()) {
        self.level = MultipartLevel(
            boundary: boundary, limits: limits, allowance: MultipartAllowance(limits), depth: 1, offset: 0)
    }

    public mutating func push(_ bytes: UnsafeRawBufferPointer) {
        self.level.push(bytes)
    }

    /// Nil where the body has no delimiter or passes a limit, so that its octets must be kept.
    public consuming func finish() -> MultipartBody<Range<Int>>? {
        self.level.finish()
    }
}
