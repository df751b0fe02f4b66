package import CassetteModel
package import CassetteStore
internal import Platform
internal import TapeBytes

/// Writes the bodies of exchanges, and the parts of multipart bodies, into a folder, one file each.
///
/// Files are named by exchange, message and part, so that no two files of a cassette have the same name, whatever names were recorded.
package struct BodyExtraction {
    package var folder: ExtractFolder
    package var reader: BodyReader

    package init(folder: ExtractFolder, reader: BodyReader) {
        self.folder = folder
        self.reader = reader
    }

    /// - Parameter report: called after each file.
    /// - Returns: how many WebSocket messages got no file, because they exceeded `messageLimit`.
    package func extract(_ interaction: Interaction, number: Int, report: (ExtractedFile) throws -> Void) throws -> Int {
        if let body = interaction.request.body {
            try self.extract(body, interaction.request.headers, number, .request, report)
        }
        if let response = interaction.response, let body = response.body {
            try self.extract(body, response.headers, number, .response, report)
        }
        return try interaction.webSocket.map { try self.extract($0, number, report) } ?? 0
    }

    /// How many messages of one conversation get files. More are too many for a folder, and `--message` writes each of them.
    package var messageLimit = 10_000

    /// Text and binary messages, one file each.
    private func extract(_ messages: WebSocketMessages, _ number: Int, _ report: (ExtractedFile) throws -> Void) throws -> Int {
        var count = 0
        try self.reader.forEachSocketMessage(of: messages) { message in
            guard message.message.content.isData else { return true }
            count += 1
            guard count <= self.messageLimit else { return true }
            let contents = try message.contents()
            let path = try self.folder.write("\(number)-message-\(message.number).\(message.fileExtension)", contents)
            try report(
                ExtractedFile(
                    path: path, exchange: number, message: message.message.from == .client ? .request : .response,
                    part: "\(message.number)", size: contents.size, words: "\(message.arrow) \(message.kind)"))
            return true
        }
        return max(0, count - self.messageLimit)
    }

    private func extract(
        _ body: Body, _ headers: HeaderFields, _ number: Int, _ message: MessageChoice, _ report: (ExtractedFile) throws -> Void
    ) throws {
        let contents = try BodyContents(body, headers: headers, reader: self.reader, readsBroken: true)
        guard contents.size > 0 else { return }
        let stem = "\(number)-\(message.rawValue)"
        let name = "\(stem).\(try Self.fileExtension(contents, headers))"
        let coding = body.codings.isEmpty ? BodyWords.coding(headers).map(Self.codingExtension) ?? "" : ""
        let path = try self.folder.write(contents.inflated == nil ? name + coding : name, contents)
        let words = [try Self.words(contents, headers), contents.breaking.map { BodyWords.broken($0, of: body) }].compactMap { $0 }
        try report(
            ExtractedFile(
                path: path, exchange: number, message: message, size: contents.size,
                words: words.isEmpty ? nil : words.joined(separator: ", ")))
        if contents.breaking != nil {
            let coded = try BodyContents(body, headers: headers, reader: self.reader)
            let path = try self.folder.write(name + coding, coded)
            try report(ExtractedFile(path: path, exchange: number, message: message, size: coded.size, words: "as received"))
        }
        if let messages = BodyMessages(body, reader: self.reader) {
            for one in messages.all {
                let data = try one.contents()
                let path = try self.folder.write("\(stem)-\(one.number).\(one.fileExtension)", data)
                try report(
                    ExtractedFile(
                        path: path, exchange: number, message: message, part: "\(one.number)", size: data.size,
                        words: one.message.coding.map(BodyWords.name) ?? "message"))
            }
            return
        }
        guard let parts = try BodyParts(contents, headers: headers) else { return }
        let whole = try contents.forRandomAccess()
        for part in parts.all where !part.isMultipart {
            let data = try part.contents(in: whole)
            let path = try self.folder.write("\(stem)-\(part.label)\(try Self.ending(part, data))", data)
            try report(
                ExtractedFile(
                    path: path, exchange: number, message: message, part: part.label, size: data.size,
                    words: try Self.words(data, part.fields)))
        }
    }

    // MARK: Names

    /// `-a.png`, or `-title.txt` for a field without a filename.
    private static func ending(_ part: BodyPart, _ data: BodyContents) throws -> String {
        let ending = self.plainEnding(part)
        let isNamed = part.filename.map { !SafeFileName.make($0).isEmpty } == true
        return try isNamed ? ending : "\(ending).\(self.fileExtension(data, part.fields))"
    }

    /// The name of the part's file or field; empty if neither is suitable for a file.
    package static func plainEnding(_ part: BodyPart) -> String {
        for name in [part.filename, part.name] {
            if let safe = name.map(SafeFileName.make), !safe.isEmpty { return "-\(safe)" }
        }
        return ""
    }

    package static func fileExtension(_ contents: BodyContents, _ headers: HeaderFields) throws -> String {
        let type = MediaType(headers.firstIndex(of: "content-type").map { headers.valueBytes(at: $0) })
        if let known = type.fileExtension { return known }
        if type.essence.hasPrefix("multipart/") { return "multipart" }
        if let image = ImageInfo(try contents.prefix(ImageInfo.prefixSize)) {
            return image.format == .jpeg ? "jpg" : image.format.rawValue.lowercased()
        }
        return switch try BodyForm(contents, headers: headers) {
        case .json: "json"
        case .form, .lines, .markup, .text: "txt"
        case .image, .binary: "bin"
        }
    }

    /// The extension for bytes that remain coded: `.gz`, or the coding's name.
    private static func codingExtension(_ names: String) -> String {
        let safe = SafeFileName.make(names.split(separator: ",").map { $0.filter { $0 != " " } }.joined(separator: "."))
        return safe == "gzip" ? ".gz" : safe.isEmpty ? "" : ".\(safe)"
    }

    private static func words(_ contents: BodyContents, _ headers: HeaderFields) throws -> String? {
        try ImageInfo(contents.prefix(ImageInfo.prefixSize))?.description ?? ExchangeRow.type(headers)
    }
}

/// A file that a body or a part was written to.
package struct ExtractedFile {
    package var path: String
    package var exchange: Int
    package var message: MessageChoice
    /// Nil for the whole body.
    package var part: String?
    package var size: Int
    /// A description of the content: an image's size, or a media type.
    package var words: String?
}

/// A recorded name converted to one that is suitable for a file on this machine.
///
/// Never contains a separator, a control character or a direction override, and never begins with a dot. Works on Unicode scalars, because
/// for file systems a slash followed by a combining accent is still a slash.
package enum SafeFileName {
    /// The longest name in bytes. File systems allow 255; the exchange and the part precede this name.
    package static let limit = 120

    /// Empty if nothing of the name can be kept.
    package static func make(_ name: String) -> String {
        // Some old browsers sent whole paths, with either separator.
        let last = name.unicodeScalars.split(omittingEmptySubsequences: false) { $0 == "/" || $0 == "\\" }.last ?? []
        var kept = String.UnicodeScalarView()
        for scalar in last { kept.append(self.isFit(scalar) ? scalar : "_") }
        var safe = kept[...]
        while let first = safe.first, first == "." || first == " " || first == "-" { safe.removeFirst() }
        while let last = safe.last, last == "." || last == " " { safe.removeLast() }
        return String(self.shortened(safe))
    }

    private static func isFit(_ scalar: Unicode.Scalar) -> Bool {
        // Characters with a meaning to Windows or to shells.
        if scalar.isASCII { return scalar.value >= 0x20 && scalar.value != 0x7F && !"<>:\"|?*$`;&!#%".unicodeScalars.contains(scalar) }
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .surrogate, .unassigned, .spaceSeparator: return false
        default: return true
        }
    }

    /// Shortens the stem, since the extension determines what opens the file.
    private static func shortened(_ name: Substring.UnicodeScalarView) -> String.UnicodeScalarView {
        func size(_ scalars: Substring.UnicodeScalarView) -> Int { Substring(scalars).utf8.count }
        guard size(name) > self.limit else { return String.UnicodeScalarView(name) }
        let dot = name.lastIndex(of: ".") ?? name.endIndex
        let ending = size(name[dot...]) <= 16 ? name[dot...] : name[name.endIndex...]
        var stem = name[..<ending.startIndex]
        while size(stem) + size(ending) > self.limit { stem.removeLast() }
        return String.UnicodeScalarView(stem) + ending
    }
}

/// A folder to which bodies are written, under plain names and never through a symbolic link.
package final class ExtractFolder {
    /// As given by the user.
    package let path: String
    private let descriptor: Int32
    private let overwrites: Bool
    /// The mode of the files.
    private let mode: UInt32

    /// Creates the folder if it is missing; its parent must exist.
    ///
    /// - Parameter cassette: where the bodies come from. Nobody may read the folder or its files who may not read the cassette.
    package init(_ path: String, overwrites: Bool, from cassette: String? = nil) throws(InspectError) {
        self.mode = CassettePlace.limited(0o644, to: cassette)
        guard mkdir(path, mode_t(CassettePlace.limited(0o755, to: cassette))) == 0 || errno == EEXIST else { throw Self.problem(path) }
        let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw Self.problem(path) }
        self.path = path
        self.descriptor = descriptor
        self.overwrites = overwrites
    }

    deinit { close(self.descriptor) }

    /// - Parameter name: a name from `SafeFileName`, with a prefix or suffix.
    /// - Returns: the file's path.
    @discardableResult
    package func write(_ name: String, _ contents: BodyContents) throws -> String {
        try self.write(name) { write in try contents.forEachPiece(write) }
    }

    package func write(_ name: String, _ body: ((UnsafeRawBufferPointer) throws -> Void) throws -> Void) throws -> String {
        let path = "\(self.path)/\(name)"
        // An existing file of that name may be a link, or have other names. It is unlinked, so that nothing is written through it.
        if self.overwrites { unlinkat(self.descriptor, name, 0) }
        var status = stat()
        guard fstatat(self.descriptor, name, &status, AT_SYMLINK_NOFOLLOW) != 0 else {
            errno = EEXIST
            throw Self.problem(path)
        }
        // Half a body could be mistaken for a whole one, also after a crash. The next extraction removes what that leaves.
        let new = ".\(name).part"
        unlinkat(self.descriptor, new, 0)
        let file = openat(self.descriptor, new, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode_t(self.mode))
        guard file >= 0 else { throw Self.problem(path) }
        defer { close(file) }
        do {
            try body { piece in
                var offset = 0
                while offset < piece.count {
                    let count = Platform.write(file, piece.baseAddress.map { $0 + offset }, piece.count - offset)
                    if count < 0, errno == EINTR { continue }
                    guard count > 0 else { throw Self.problem(path) }
                    offset += count
                }
            }
            guard renameat(self.descriptor, new, self.descriptor, name) == 0 else { throw Self.problem(path) }
        } catch {
            unlinkat(self.descriptor, new, 0)
            throw error
        }
        return path
    }

    private static func problem(_ path: String) -> InspectError {
        let number = errno
        let next =
            switch number {
            case EEXIST: "already exists: pass --overwrite, or choose another folder."
            case ENOENT: "cannot be created, because its parent folder does not exist: create that first."
            case ENOTDIR: "is not a folder: choose another one."
            case ENOSPC, EDQUOT: "cannot be written (\(String(cString: strerror(number)))): free some space."
            default: "cannot be written (\(String(cString: strerror(number)))): choose another folder."
            }
        return InspectError(.unwritable, "\"\(path)\" \(next)")
    }
}
