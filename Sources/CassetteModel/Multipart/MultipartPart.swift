/// One part of a multipart body with the delimiter in front of it.
public struct MultipartPart<Data> {
    public var delimiter: MultipartDelimiter
    public var headers: PartHeaderSection
    public var content: MultipartContent<Data>

    public init(
        delimiter: MultipartDelimiter = MultipartDelimiter(), headers: PartHeaderSection, content: MultipartContent<Data>
    ) {
        self.delimiter = delimiter
        self.headers = headers
        self.content = content
    }
}

extension MultipartPart: Sendable where Data: Sendable {}
extension MultipartPart: Equatable where Data: Equatable {}
extension MultipartPart: Hashable where Data: Hashable {}
