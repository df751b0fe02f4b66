internal import CassetteFormat
internal import CassetteModel
internal import CassetteRedaction
internal import CassetteStore
internal import TapeBytes

extension RecordedResponse {
    /// Edits the content of the body for one replay, and updates length, checksums and arrival. Reads from disk.
    ///
    /// - Parameters:
    ///   - body: this response's body.
    ///   - content: the content of that body, without codings.
    mutating func edit(
        _ body: Body, _ content: [UInt8], _ edits: EditList, bodies: BodyReader, digest: @escaping () -> any ContentDigest
    ) throws(CassetteError) {
        guard !edits.isEmpty else { return }
        var edited = body
        let newContent = edits.applied(to: content)
        edited.content = .text(newContent)
        edited.original = nil
        edited.sha256 = nil
        let old = try bodies.wireBytes(of: body, digest: digest).bytes
        let new = try bodies.wireBytes(of: edited, digest: digest).bytes
        let fields = FieldsOfBody(makeDigest: digest)
        var notes: [String] = []
        for isTrailer in [false, true] {
            guard var mended = isTrailer ? self.trailers : self.headers else { continue }
            fields.mend(
                &mended, growth: new.count - old.count, oldSize: old.count, old: { fields.checksum($0, of: old) },
                new: { fields.checksum($0, of: new) }, content: body.codings.isEmpty ? nil : (content, newContent), notes: &notes)
            if isTrailer { self.trailers = mended } else { self.headers = mended }
        }
        FieldsOfBody.mend(&edited.arrival, edits: body.codings.isEmpty ? edits : nil, oldSize: old.count, newSize: new.count)
        edited.size = new.count
        self.body = edited
    }
}
