/// Writes a multipart body's octets, piece by piece.
///
/// Does not know where the data of parts is: `data` writes it.
public enum MultipartSerializer {
    public static func write<Data>(
        _ body: MultipartBody<Data>, to output: (UnsafeRawBufferPointer) throws -> Void, data: (Data) throws -> Void
    ) rethrows {
        try body.preamble.withUnsafeBytes(output)
        for part in body.parts {
            try part.delimiter.octets(boundary: body.boundary).withUnsafeBytes(output)
            try part.headers.octets.withUnsafeBytes(output)
            switch part.content {
            case .data(let content): try data(content)
            case .multipart(let inner): try self.write(inner, to: output, data: data)
            }
        }
        if let closing = body.closing { try closing.octets(boundary: body.boundary).withUnsafeBytes(output) }
        try body.epilogue.withUnsafeBytes(output)
    }

    /// The octets of a body whose data are octets.
    public static func octets(_ body: MultipartBody<[UInt8]>) -> [UInt8] {
        var octets: [UInt8] = []
        self.write(body, to: { octets.append(contentsOf: $0) }, data: { octets.append(contentsOf: $0) })
        return octets
    }

    /// The octets of a body whose data are ranges of `source`; nil where they are not within it.
    public static func octets(_ body: MultipartBody<Range<Int>>, source: UnsafeRawBufferPointer) -> [UInt8]? {
        var octets: [UInt8] = []
        var isInside = true
        self.write(
            body, to: { octets.append(contentsOf: $0) },
            data: { range in
                if range.lowerBound >= 0, range.upperBound <= source.count {
                    octets.append(contentsOf: source[range])
                } else {
                    isInside = false
                }
            })
        return isInside ? octets : nil
    }
}
