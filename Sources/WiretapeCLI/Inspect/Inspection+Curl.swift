internal import CassetteFormat
internal import CassetteModel
internal import CassetteStore
internal import TapeBytes

/// A request as a command line.
extension Inspection {
    /// - Parameter files: the folder to write into what the command needs; nil for a comment that says how to.
    func curl(_ number: Int, files: String?, overwrites: Bool) throws {
        let folder = files ?? "wiretape-\(number)"
        var command = try CurlCommand(self.interaction(number), number: number, folder: folder, reader: self.reader)
        if let files, !command.files.isEmpty {
            let folder = try ExtractFolder(files, overwrites: overwrites)
            for file in command.files { try self.write(file.contents, to: file.name, in: folder) }
        } else if !command.files.isEmpty {
            let again = "wiretape show \(ShellWord.quoted(self.file)) \(number) --curl --files \(folder)"
            command.notes.insert("first, for the files that it sends: \(again) > /dev/null", at: 0)
        }
        try self.write(command.text)
    }

    private func write(_ contents: CurlCommand.Contents, to name: String, in folder: ExtractFolder) throws {
        switch contents {
        case .octets(let octets): try folder.write(name, octets)
        case .wire(let body):
            let reader = self.reader
            var isEdited = false
            _ = try folder.write(name) { write in
                isEdited = try BodyRestorer.streamWire(
                    of: body, file: { try reader.source($0, digest: PortableSHA256()) }, raw: { OctetSource(try reader.read($0)) },
                    digest: PortableSHA256(), deliver: write)
            }
            if isEdited { self.warn("the request body was edited since: \"\(folder.path)/\(name)\" does not hold what was received.") }
        }
    }
}
