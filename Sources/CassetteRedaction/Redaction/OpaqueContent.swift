internal import CassetteFormat
internal import CassetteModel
internal import TapeBytes

/// Contents in formats that redaction does not read: archives, encrypted data, and data whose names and values are not in one text.
///
/// Knows signatures and media types only. Such contents are searched as bytes, and a note says what that leaves out.
enum OpaqueContent: Hashable, Sendable {
    /// Nothing in it can be searched, since it is compressed or encrypted.
    case sealed(String)
    /// Its strings are in clear, so known secrets and keys are found by their bytes, but values are not found by their names.
    case unnamed(String)
    /// A content that ends within a secret, whose rest may be in another message.
    case rest

    /// What to add to a body's note. `UnsearchedExchanges` counts exchanges by these words.
    var note: String {
        switch self {
        case .sealed(let name): "not searched for secrets inside \(name)"
        case .unnamed(let name): "not searched for values by their names in \(name)"
        case .rest: "not searched for the rest of a secret that may continue in another part"
        }
    }

    /// How much of a content is examined beyond its first bytes: the metadata of Avro, the first objects of a PDF.
    private static let headSize = 64 << 10

    /// - Parameters:
    ///   - content: a content without codings, or its beginning.
    ///   - isBeginning: whether there is more of it.
    init?(_ content: UnsafeRawBufferPointer, _ type: MediaType, isBeginning: Bool = false) {
        guard content.count > 3 else { return nil }
        if let found = Self.signature(content, isBeginning: isBeginning) ?? Self.declared(content, type) {
            self = found
        } else {
            return nil
        }
    }

    /// A content that is read in its own form only if it is all in memory: a tar archive, UTF-16 and UTF-32.
    init?(tooLong beginning: UnsafeRawBufferPointer) {
        if TapeArchive.isHeader(beginning, at: 0) {
            self = .unnamed("a tar archive of this length")
        } else if WideText(beginning) != nil {
            self = .unnamed("a text in UTF-16 or UTF-32 of this length")
        } else {
            return nil
        }
    }

    private static func signature(_ content: UnsafeRawBufferPointer, isBeginning: Bool) -> OpaqueContent? {
        // Most contents are texts, whose first byte rules out all signatures but those of words.
        let first = content[0]
        guard Self.firsts[Int(first)] else { return nil }
        for (bytes, found) in Self.signatures where content.starts(with: bytes) { return found }
        if first == UInt8(ascii: "O"), content.starts(with: "Obj\u{1}".utf8) { return Self.avro(content) }
        if first == UInt8(ascii: "%"), content.starts(with: "%PDF-".utf8) { return Self.pdf(content, isBeginning: isBeginning) }
        if content.starts(with: "!<arch>\ndebian".utf8) { return .sealed("a Debian package") }
        if content.starts(with: "BZh".utf8), content.count > 9, content[4...].starts(with: [0x31, 0x41, 0x59, 0x26, 0x53, 0x59]) {
            return .sealed("bzip2")
        }
        // An end mark of unknown size or of a plausible one follows the properties and the size of the dictionary.
        if first == 0x5D, content.count > 13, content[1] == 0, content[2] == 0,
            content[5...12].allSatisfy({ $0 == 255 }) || content[12] == 0,
            content[13] == 0
        {
            return .sealed("LZMA")
        }
        if content.starts(with: [0x28, 0xB5, 0x2F, 0xFD]), !ContentEncoding.Name.zstd.isSupported { return .sealed("Zstandard") }
        return nil
    }

    /// Signatures that no text begins with, except those in words, which are followed by a control character or are long.
    private static let signatures: [(bytes: [UInt8], found: OpaqueContent)] = [
        (Array("PK\u{3}\u{4}".utf8), .sealed("a ZIP archive")), (Array("PK\u{7}\u{8}".utf8), .sealed("a ZIP archive")),
        ([0x37, 0x7A, 0xBC, 0xAF, 0x27, 0x1C], .sealed("a 7-Zip archive")), (Array("Rar!\u{1A}\u{7}".utf8), .sealed("a RAR archive")),
        ([0xFD, 0x37, 0x7A, 0x58, 0x5A, 0], .sealed("xz")), (Array("LZIP\u{1}".utf8), .sealed("lzip")),
        ([0x04, 0x22, 0x4D, 0x18], .sealed("LZ4")), ([0x89, 0x4C, 0x5A, 0x4F, 0], .sealed("lzop")),
        ([0x1F, 0x9D], .sealed("compress")), ([0xFF, 0x06, 0, 0, 0x73, 0x4E, 0x61, 0x50, 0x70, 0x59], .sealed("Snappy")),
        (Array("MSCF\0\0\0\0".utf8), .sealed("a cabinet")), ([0xED, 0xAB, 0xEE, 0xDB], .sealed("an RPM package")),
        (Array("PACK\0\0\0\u{2}".utf8), .sealed("a Git pack")), (Array("070701".utf8), .unnamed("a cpio archive")),
        (Array("hsqs".utf8), .sealed("SquashFS")),
        (Array("PAR1".utf8), .sealed("Parquet")), (Array("PARE".utf8), .sealed("Parquet")), (Array("ORC\u{3}".utf8), .sealed("ORC")),
        (Array("ORC\n".utf8), .sealed("ORC")), (Array("ARROW1\0\0".utf8), .unnamed("Arrow")),
        ([0x89, 0x48, 0x44, 0x46, 0x0D, 0x0A], .sealed("HDF5")),
        (Array("Salted__".utf8), .sealed("encrypted data")), (Array("age-encryption.org/".utf8), .sealed("encrypted data")),
        (Array("LUKS\u{BA}\u{BE}".unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) }), .sealed("encrypted data")),
        ([0x03, 0xD9, 0xA2, 0x9A], .sealed("a KeePass database")), ([0xFE, 0xED, 0xFE, 0xED], .sealed("a Java key store")),
        ([0xD0, 0xCF, 0x11, 0xE0, 0xA1, 0xB1, 0x1A, 0xE1], .unnamed("an OLE document")),
        ([0xAC, 0xED, 0, 5], .unnamed("Java serialization")), (Array("SQLite format 3\0".utf8), .unnamed("a SQLite database")),
        ([0xE0, 0x01, 0, 0xEA], .unnamed("Ion")), ([0x80, 0x04, 0x95], .unnamed("a pickle")), ([0x80, 0x05, 0x95], .unnamed("a pickle")),
        ([0, 1, 0, 0, 0, 255, 255, 255, 255], .unnamed(".NET serialization")), ([0xE0, 0, 0, 1], .unnamed("Fast Infoset")),
    ]

    private static let firsts: [Bool] = {
        var firsts = [Bool](repeating: false, count: 256)
        for (bytes, _) in Self.signatures { firsts[Int(bytes[0])] = true }
        for byte in "O%!B\u{5D}\u{28}".utf8 { firsts[Int(byte)] = true }
        return firsts
    }()

    /// A container of Avro names the codec of its blocks in the metadata (Avro 1.12, object container files).
    private static func avro(_ content: UnsafeRawBufferPointer) -> OpaqueContent {
        let head = content.prefix(Self.headSize)
        guard let name = Self.index(of: "avro.codec", in: head) else { return .unnamed("Avro") }
        let codec = head.dropFirst(name + 10)
        // Lengths are zigzag-encoded: 8 is 4.
        return codec.starts(with: [8] + Array("null".utf8)) ? .unnamed("Avro") : .sealed("compressed Avro")
    }

    /// A PDF without filters and encryption has its texts in clear (ISO 32000-2, 7.4 and 7.6).
    private static func pdf(_ content: UnsafeRawBufferPointer, isBeginning: Bool) -> OpaqueContent? {
        let isPlain =
            !isBeginning && Self.index(of: "/Filter", in: content[...]) == nil && Self.index(of: "/Encrypt", in: content[...]) == nil
        return isPlain ? nil : .sealed("a PDF document")
    }

    private static func index(of word: StaticString, in bytes: Slice<UnsafeRawBufferPointer>) -> Int? {
        let word = (0..<word.utf8CodeUnitCount).map { word.utf8Start[$0] }
        var from = bytes.startIndex
        while let start = bytes[from...].firstIndex(of: word[0]) {
            if bytes[start...].starts(with: word) { return start - bytes.startIndex }
            from = start + 1
        }
        return nil
    }

    // MARK: Media types

    /// Formats without a signature. A text under such a type is something else, such as an error message.
    private static func declared(_ content: UnsafeRawBufferPointer, _ type: MediaType) -> OpaqueContent? {
        guard let found = Self.types[type.essence] else {
            return Self.isThrift(type.essence) && !ReadableText.isReadable(content) ? .unnamed("Thrift") : nil
        }
        if found == Self.pack {
            // The pack follows lines of the protocol, at the beginning of a band (gitprotocol-pack).
            return Self.index(of: "PACK\0\0\0", in: content.prefix(Self.headSize)) == nil ? nil : found
        }
        return ReadableText.isReadable(content) ? nil : found
    }

    private static func isThrift(_ essence: String) -> Bool {
        essence.hasPrefix("application/vnd.apache.thrift") && !essence.hasSuffix("json")
    }

    private static let pack = OpaqueContent.sealed("a Git pack")
    private static let types: [String: OpaqueContent] = [
        "application/x-git-upload-pack-result": Self.pack, "application/x-git-receive-pack-request": Self.pack,
        "application/x-brotli": .sealed("Brotli"), "application/brotli": .sealed("Brotli"), "application/x-lzma": .sealed("LZMA"),
        "application/x-snappy-framed": .sealed("Snappy"), "application/snappy": .sealed("Snappy"), "application/exi": .sealed("EXI"),
        "application/x-pkcs12": .sealed("a PKCS #12 file"), "application/pkcs12": .sealed("a PKCS #12 file"),
        "application/pkcs7-mime": .sealed("encrypted data"), "application/x-pkcs7-mime": .sealed("encrypted data"),
        "application/pgp-encrypted": .sealed("encrypted data"), "message/ohttp-req": .sealed("encrypted data"),
        "message/ohttp-res": .sealed("encrypted data"), "message/ohttp-chunked-req": .sealed("encrypted data"),
        "message/ohttp-chunked-res": .sealed("encrypted data"), "application/oblivious-dns-message": .sealed("encrypted data"),
        "application/protobuf": .unnamed("protobuf"), "application/x-protobuf": .unnamed("protobuf"),
        "application/vnd.google.protobuf": .unnamed("protobuf"), "application/x-google-protobuf": .unnamed("protobuf"),
        "application/vnd.kubernetes.protobuf": .unnamed("protobuf"), "application/x-thrift": .unnamed("Thrift"),
        "application/x-amf": .unnamed("AMF"), "application/vnd.ms-sync.wbxml": .unnamed("WBXML"),
        "application/vnd.wap.wbxml": .unnamed("WBXML"), "application/fastinfoset": .unnamed("Fast Infoset"),
        "application/x-hessian": .unnamed("Hessian"), "x-application/hessian": .unnamed("Hessian"), "avro/binary": .unnamed("Avro"),
        "application/avro": .unnamed("Avro"), "application/x-flatbuffers": .unnamed("FlatBuffers"),
        "application/vnd.apache.arrow.stream": .unnamed("Arrow"), "application/vnd.apache.arrow.file": .unnamed("Arrow"),
        "application/python-pickle": .unnamed("a pickle"), "application/x-pickle": .unnamed("a pickle"),
    ]

    // MARK: Charsets

    /// A charset whose letters are not those of ASCII, which no signature shows: EBCDIC and UTF-7.
    ///
    /// - Parameter headers: the header fields of the message or part.
    static func charset(_ headers: HeaderFields) -> OpaqueContent? {
        guard let index = headers.firstIndex(of: "content-type") else { return nil }
        let field = headers.valueBytes(at: index)
        // Most fields have no such charset, and parameters take time to read.
        guard field.count > 16, let label = MIMEParameters(field)["charset"]?.value else { return nil }
        let name = String(decoding: label.prefix(32), as: UTF8.self).lowercased()
        let digits = String(name.reversed().prefix { $0.isNumber }.reversed())
        let isOther =
            name.hasPrefix("ebcdic") || name.contains("utf-7")
            || (name.hasPrefix("ibm") || name.hasPrefix("cp") || name.hasPrefix("x-ibm")) && Self.ebcdic.contains(digits)
        return isOther ? .sealed("a text in \(name)") : nil
    }

    /// The numbers of EBCDIC code pages of IBM.
    private static let ebcdic: Set<String> = [
        "037", "273", "274", "275", "277", "278", "280", "281", "284", "285", "290", "297", "420", "423", "424", "500", "838", "870", "871",
        "875", "880", "905", "918", "924", "930", "931", "933", "935", "937", "939", "1025", "1026", "1047", "1112", "1122", "1123", "1140",
        "1141", "1142", "1143", "1144", "1145", "1146", "1147", "1148", "1149", "1364", "1371", "1388", "1390", "1399",
    ]
}
