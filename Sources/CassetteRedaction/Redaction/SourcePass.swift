internal import CassetteFormat
internal import CassetteModel

/// One pass over a body that is too large for memory: codings off, secrets out, codings on again.
struct SourcePass {
    let text: TextRedaction
    let headers: HeaderFields
    /// In the order applied.
    let names: [ContentEncoding.Name]
    private(set) var count = 0
    /// What was found out about the codings, in the order applied: known once a pass is through.
    private(set) var codings: [ContentCoding] = []
    /// Where the codings broke.
    private(set) var problem: InflateProblem?

    init(text: TextRedaction, headers: HeaderFields, names: [ContentEncoding.Name]) {
        self.text = text
        self.headers = headers
        self.names = names
    }

    /// - Parameter codings: what an earlier pass found out, to put the codings on what is delivered; nil where nobody wants it.
    mutating func run(_ source: OctetSource, codings: [ContentCoding]? = nil, _ deliver: (UnsafeRawBufferPointer) throws -> Void) throws {
        guard !self.names.isEmpty, let chain = DecoderChain(self.names, limits: .search(codedSize: source.size)) else {
            return try self.plain(source, deliver)
        }
        chain.meter = self.text.budget?.meter(coded: source.size)
        var content: ContentStream?
        let encoder = try codings.map { try EncoderChain($0) }
        func write(_ piece: UnsafeRawBufferPointer) throws {
            if let encoder { try encoder.push(piece, deliver: deliver) } else { try deliver(piece) }
        }
        try source.forEachPiece(while: { piece in
            try chain.push(piece) { decoded in
                let stream = content ?? ContentStream(self.text, headers: self.headers, beginning: decoded)
                try stream.push(decoded) { try write($0) }
                content = stream
            }
        })
        let isWhole = chain.finish()
        self.codings = chain.found.reversed().map { $0.coding(nil) }
        if !isWhole { self.problem = chain.problem?.problem }
        try content?.finish { try write($0) }
        self.count = content?.count ?? 0
        // The end of a stream that broke stays away.
        if isWhole { try encoder?.finish(deliver: deliver) }
    }

    private mutating func plain(_ source: OctetSource, _ deliver: (UnsafeRawBufferPointer) throws -> Void) throws {
        var content: ContentStream?
        let meter = self.text.budget?.meter(coded: source.size)
        try source.forEachPiece { (piece) -> Void in
            try meter?(piece.count)
            let stream = content ?? ContentStream(self.text, headers: self.headers, beginning: piece)
            try stream.push(piece, deliver: deliver)
            content = stream
        }
        try content?.finish(deliver: deliver)
        self.count = content?.count ?? 0
    }
}
