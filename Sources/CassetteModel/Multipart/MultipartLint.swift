/// Finds what is wrong with a multipart body, and where: one octet too many or too few is why a server sees nothing.
///
/// Takes the body in pieces and keeps none. Judges what servers may stumble over, so that it names some things which RFC 2046 allows.
public struct MultipartLint: ~Copyable {
    /// Problems told of; the others are counted.
    public static let limit = 100

    private let contentType: [MultipartProblem]
    private let level: LintLevel?
    private var head: [UInt8] = []

    /// - Parameter headers: the message's, for its Content-Type.
    public init(headers: HeaderFields, limits: MultipartLimits = MultipartLimits()) {
        self.contentType = ContentTypeLint.problems(headers, offset: nil)
        let type = MultipartType(headers)
        self.level = type?.boundary.map {
            LintLevel(
                boundary: $0, isFormData: type?.isFormData == true, limits: limits, report: LintReport(limit: Self.limit), depth: 1,
                offset: 0)
        }
    }

    public mutating func push(_ bytes: UnsafeRawBufferPointer) {
        if let level = self.level { return level.push(bytes) }
        if self.head.count < LintLevel.headSize { self.head += bytes.prefix(LintLevel.headSize - self.head.count) }
    }

    /// What was found, the message's own fields first, then in the order of the body.
    public consuming func finish() -> [MultipartProblem] {
        guard let level = self.level else { return self.contentType + [BoundaryGuess.problem(self.head, named: nil)].compactMap { $0 } }
        level.finish()
        return self.contentType + level.report.all
    }

    public static func problems(headers: HeaderFields, body: UnsafeRawBufferPointer) -> [MultipartProblem] {
        var lint = MultipartLint(headers: headers)
        lint.push(body)
        return lint.finish()
    }
}
