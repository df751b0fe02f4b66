internal import CassetteModel
internal import CassettePlayback
internal import CassetteRedaction
internal import TapeBytes

/// Edits the parts of a multipart body. The bytes around them stay as they are.
enum MultipartEditor {
    /// - Parameters:
    ///   - place: `part:NAME` or `filename:NAME`.
    ///   - inner: edits the decoded data of a part in place, if it is for this; returns nil if the operation is for the whole of the data, why
    ///     nothing was changed, or an empty text if something was.
    /// - Returns: why nothing was changed; nil if the edit was made.
    static func apply(
        _ operation: EditStep.Operation, at place: MatchPlace, to content: inout [UInt8], _ headers: HeaderFields,
        _ inner: (inout [UInt8], HeaderFields) -> String?
    ) -> String? {
        guard let type = MultipartType(headers), let boundary = type.boundary else {
            return "the body is not multipart, so nothing is changed"
        }
        var reader = MultipartReader(boundary: boundary)
        content.withUnsafeBytes { reader.push($0) }
        guard let body = reader.finish() else { return "the multipart body has no parts that can be read, so nothing is changed" }
        var position = body.preamble.count
        var edits: [Edit] = []
        var reason: String?
        var number = 0
        for part in body.parts {
            number += 1
            let start = position
            let headersStart = start + part.delimiter.bytes(boundary: boundary).count
            let dataStart = headersStart + part.headers.bytes.count
            let data = dataStart..<dataStart + self.size(part.content)
            position = data.upperBound
            guard data.upperBound <= content.count else { return "the multipart body cannot be read, so nothing is changed" }
            let fields = part.headers.fields
            switch self.edit(operation, at: place, part, fields, number: number, data, start, headersStart, content, boundary, inner) {
            case .none: continue
            case .edit(let edit): edits.append(edit)
            case .refused(let problem): reason = reason ?? problem
            }
        }
        guard !edits.isEmpty else { return reason ?? ContentEditor.isAbsent }
        content = EditList(edits).applied(to: content)
        return nil
    }

    private enum Outcome {
        /// Another part is meant.
        case none
        case edit(Edit)
        case refused(String)
    }

    private static func size(_ content: MultipartContent<Range<Int>>) -> Int {
        switch content {
        case .data(let range): range.count
        case .multipart(let inner):
            inner.preamble.count + inner.epilogue.count + (inner.closing?.bytes(boundary: inner.boundary).count ?? 0)
                + inner.parts.reduce(0) {
                    $0 + $1.delimiter.bytes(boundary: inner.boundary).count + $1.headers.bytes.count + self.size($1.content)
                }
        }
    }

    private static func edit(
        _ operation: EditStep.Operation, at place: MatchPlace, _ part: MultipartPart<Range<Int>>, _ fields: HeaderFields, number: Int,
        _ data: Range<Int>, _ start: Int, _ headersStart: Int, _ content: [UInt8], _ boundary: MultipartBoundary,
        _ inner: (inout [UInt8], HeaderFields) -> String?
    ) -> Outcome {
        // Parts without a name are numbered from 1, as in matching.
        let name = ContentDisposition(fields)?.name ?? "\(number)"
        if case .partFilename(let wanted) = place {
            guard name == wanted, case .set(let value) = operation else { return .none }
            return self.rename(part, to: value.text, headersStart, content)
        }
        guard case .part(let wanted) = place, name == wanted else { return .none }
        if case .remove = operation {
            var none: [UInt8] = []
            // A place within the part is not the part.
            if inner(&none, fields) == nil { return .edit(Edit(range: start..<data.upperBound, bytes: [])) }
        }
        let encoding = ContentTransferEncoding(fields)
        guard let decoded = encoding.decode(Array(content[data])) else {
            return .refused("the part's Content-Transfer-Encoding cannot be removed, so nothing is changed")
        }
        var value = decoded
        if let answer = inner(&value, fields) {
            guard answer.isEmpty else { return .refused(answer) }
        } else if let problem = ContentEditor.edit(&value, operation) {
            return .refused(problem)
        }
        guard let bytes = self.encoded(value, encoding) else {
            return .refused("the part cannot be coded again as it was, so nothing is changed")
        }
        let delimiter = [UInt8(ascii: "-"), UInt8(ascii: "-")] + boundary.bytes
        let hasBoundary = bytes.withUnsafeBytes { bytes in
            delimiter.withUnsafeBytes { delimiter in
                bytes.indices.contains { bytes[$0] == 45 && bytes[$0...].starts(with: delimiter) }
            }
        }
        guard !hasBoundary else { return .refused("the new content has the boundary in it, so nothing is changed") }
        return .edit(Edit(range: data, bytes: bytes))
    }

    private static func encoded(_ value: [UInt8], _ encoding: ContentTransferEncoding) -> [UInt8]? {
        if encoding == .identity { return value }
        var text: [UInt8] = []
        value.withUnsafeBytes { Base64.encode($0, into: &text) }
        // Only base64 can be told from its decoded bytes and written anew (RFC 2045, 6.8).
        guard encoding.decode(text) == value, encoding == .base64 else { return nil }
        var lines: [UInt8] = []
        for start in stride(from: 0, to: text.count, by: 76) {
            if start > 0 { lines += [13, 10] }
            lines += text[start..<min(start + 76, text.count)]
        }
        return lines
    }

    /// Puts another name into `filename` of a part's Content-Disposition (RFC 7578, 4.2).
    private static func rename(
        _ part: MultipartPart<Range<Int>>, to name: [UInt8], _ headersStart: Int, _ content: [UInt8]
    ) -> Outcome {
        guard HeaderEdit.isValue(name) else {
            return .refused("the name has a line end or a control character in it, so nothing is changed")
        }
        let fields = part.headers.fields
        guard let index = fields.firstIndex(of: "content-disposition"), ContentDisposition(fields)?.filename != nil else {
            return .refused("the part has no file name, so nothing is changed")
        }
        // HTML, 4.10.21.8: quotes are percent-encoded.
        let quoted = String(decoding: name, as: UTF8.self).replacing("\"", with: "%22")
        let value = fields.value(at: index)
        var kept: [String] = []
        for parameter in self.parameters(of: value) {
            let word = parameter.drop { $0 == " " || $0 == "\t" }.lowercased()
            guard !word.hasPrefix("filename=") && !word.hasPrefix("filename*") else { continue }
            kept.append(parameter)
        }
        let line = "\(fields.name(at: index)): \(kept.joined(separator: ";")); filename=\"\(quoted)\""
        let old = Array(fields.line(at: index))
        let section = headersStart..<headersStart + part.headers.bytes.count
        guard let place = content[section].firstRange(of: old) else {
            return .refused("the part's Content-Disposition is folded over several lines, so nothing is changed")
        }
        return .edit(Edit(range: place, bytes: Array(line.utf8)))
    }

    /// Split at semicolons outside of quotes.
    private static func parameters(of value: String) -> [String] {
        var parts = [""]
        var (isQuoted, isEscaped) = (false, false)
        for character in value {
            if character == ";", !isQuoted {
                parts.append("")
                continue
            }
            if character == "\"", !isEscaped { isQuoted.toggle() }
            isEscaped = character == "\\" && isQuoted && !isEscaped
            parts[parts.count - 1].append(character)
        }
        return parts
    }
}
