/// A Content-Type of the multipart family (RFC 2046, 5.1) with its boundary.
public struct MultipartType: Sendable, Hashable {
    /// `form-data`, `mixed`, `related` and so on, in lower case.
    public var subtype: String
    public var parameters: MIMEParameters

    /// Values behind the first that are looked at: a field that is there twice has one.
    private static let listLimit = 4

    /// Nil for a value of another family. Of several joined by commas, the first with a boundary, or else the first one.
    public init?(_ field: some Collection<UInt8>) {
        var parameters = MIMEParameters(field)
        let first = parameters
        for _ in 0..<Self.listLimit {
            guard parameters["boundary"] == nil, let rest = parameters.rest else { break }
            parameters = MIMEParameters(rest)
        }
        if parameters["boundary"] == nil || !parameters.value.hasPrefix("multipart/") { parameters = first }
        guard parameters.value.hasPrefix("multipart/") else { return nil }
        self.subtype = String(parameters.value.dropFirst("multipart/".count))
        self.parameters = parameters
    }

    /// The first multipart type with a boundary that a message or a part names, or else the first one.
    public init?(_ fields: HeaderFields) {
        var first: MultipartType?
        for index in 0..<fields.count where fields.isNamed("content-type", at: index) {
            guard let type = MultipartType(fields.valueBytes(at: index)) else { continue }
            if type.boundary != nil {
                self = type
                return
            }
            first = first ?? type
        }
        guard let first else { return nil }
        self = first
    }

    package init?(part: PartHeaderSection) {
        self.init(part.fields)
    }

    public var isFormData: Bool { self.subtype == "form-data" }

    /// Nil where it is missing, or cannot be searched for.
    public var boundary: MultipartBoundary? {
        self.parameters["boundary"].flatMap { MultipartBoundary($0.value) }
    }
}
