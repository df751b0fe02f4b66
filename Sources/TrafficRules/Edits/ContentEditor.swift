internal import CassetteModel
internal import CassettePlayback
internal import CassetteRedaction
internal import TapeBytes

/// Edits the decoded content of a body at a place. Bytes around the place stay as they are.
enum ContentEditor {
    /// An edit must not make a body longer.
    static let limit = CodedBody.limit
    /// Contents within contents: parts of parts, JSON in a field of a form.
    private static let depthLimit = 4

    static let isAbsent = "it is not there, so nothing is changed"
    static let hasNoMatch = "nothing in it matches, or too much for one edit, so nothing is changed"
    private static let isTooLong = "the result would be longer than 64 MiB, so nothing is changed"

    /// - Parameter headers: of the message; they declare the type of the content.
    /// - Returns: why nothing was changed; nil if the edit was made.
    static func apply(_ step: EditStep, to content: inout [UInt8], _ headers: HeaderFields) -> String? {
        switch step.place {
        case .body: return self.edit(&content, step.operation)
        case .content(let place): return self.apply(step.operation, at: place, to: &content, headers, depth: 0)
        case .method, .url, .status, .reason, .path, .query, .queryItem, .header: return nil
        }
    }

    private static func apply(
        _ operation: EditStep.Operation, at place: MatchPlace, to content: inout [UInt8], _ headers: HeaderFields, depth: Int
    ) -> String? {
        guard depth <= self.depthLimit else { return "it is nested too deeply, so nothing is changed" }
        let reason: String?
        var edited = content
        switch place {
        case .json(let pointer):
            let type = MediaType(headers.firstIndex(of: "content-type").map(headers.valueBytes))
            reason =
                type.declaresJSONTexts
                ? self.editJSONTexts(&edited, pointer.segments, operation) : self.editJSON(&edited, pointer.segments, operation)
        case .xml(let pointer): reason = self.editXML(&edited, pointer, operation)
        case .formField(let name): reason = self.editForm(&edited, name, operation, headers)
        case .part, .partFilename: reason = MultipartEditor.apply(operation, at: place, to: &edited, headers) { _, _ in nil }
        case .within(.formField(let name), let inner):
            reason = self.editForm(&edited, name, headers) { value in
                self.apply(operation, at: inner, to: &value, HeaderFields(), depth: depth + 1)
            }
        case .within(let container, let inner):
            reason = MultipartEditor.apply(operation, at: container, to: &edited, headers) { data, partHeaders in
                self.apply(operation, at: inner, to: &data, partHeaders, depth: depth + 1) ?? ""
            }
        case .method, .scheme, .host, .port, .path, .query, .queryItem, .header, .body, .grpc: return nil
        }
        guard reason == nil else { return reason }
        guard edited.count <= self.limit else { return self.isTooLong }
        content = edited
        return nil
    }

    /// The value itself.
    static func edit(_ value: inout [UInt8], _ operation: EditStep.Operation) -> String? {
        switch operation {
        case .set(let new): value = new.text
        case .remove: value = []
        case .replace(let replacement):
            guard let new = replacement.replaced(in: value, limit: self.limit) else { return self.hasNoMatch }
            value = new
        }
        return nil
    }

    // MARK: JSON

    private static func editJSON(
        _ content: inout [UInt8], _ segments: JSONPlaces.Segments, _ operation: EditStep.Operation
    ) -> String? {
        let mark: [UInt8] = content.starts(with: [0xEF, 0xBB, 0xBF]) ? [0xEF, 0xBB, 0xBF] : []
        let document: JSONDocument
        do {
            document = try JSONDocument(Array(content.dropFirst(mark.count)))
        } catch {
            return content.isEmpty
                ? "there is no body" : "the body is not JSON (\(error.reason) in line \(error.line)), so nothing is changed"
        }
        var edits: [Edit]
        switch operation {
        case .set(let value):
            edits = JSONPlaces.setting(segments, to: value.json, in: document.root)
        case .remove: edits = JSONPlaces.removing(segments, in: document.root)
        case .replace(let replacement):
            let values = JSONPlaces.values(segments, in: document.root)
            guard !values.isEmpty else { return self.isAbsent }
            edits = values.compactMap { value in
                switch value.kind {
                case .object, .array: return nil
                case .string:
                    return value.utf8.flatMap { replacement.replaced(in: $0, limit: self.limit) }.map {
                        Edit(range: value.range, bytes: JSONPlaces.string(Array(String(decoding: $0, as: UTF8.self).utf8)))
                    }
                case .number, .true, .false, .null:
                    guard let new = replacement.replaced(in: Array(value.raw), limit: self.limit) else { return nil }
                    let isWord = JSONPlaces.isNumber(new) || ["true", "false", "null"].contains(String(decoding: new, as: UTF8.self))
                    return Edit(
                        range: value.range, bytes: isWord ? new : JSONPlaces.string(Array(String(decoding: new, as: UTF8.self).utf8)))
                }
            }
            guard !edits.isEmpty else { return self.hasNoMatch }
        }
        guard !edits.isEmpty else { return self.isAbsent }
        content = mark + EditList(edits).applied(to: document.bytes)
        return nil
    }

    /// Several JSON texts: one per line, or a sequence (RFC 7464). The first segment is the number of a text, from 0, as in matching.
    private static func editJSONTexts(
        _ content: inout [UInt8], _ segments: JSONPlaces.Segments, _ operation: EditStep.Operation
    ) -> String? {
        guard let first = segments.first else { return "the body is several JSON texts: write the number of one, as in json:/0" }
        var edits: [Edit] = []
        var reason: String?
        var (start, number) = (0, 0)
        while start < content.count {
            let end = content[start...].firstIndex(of: 10) ?? content.count
            var text = start..<end
            // A sequence has a record separator before each text.
            while let byte = text.first.map({ content[$0] }), byte <= 32 { text.removeFirst() }
            while let byte = text.last.map({ content[$0] }), byte <= 32 { text.removeLast() }
            let line = start..<min(end + 1, content.count)
            start = line.upperBound
            guard !text.isEmpty else { continue }
            defer { number += 1 }
            guard first == .any || first == .name(Array("\(number)".utf8)) else { continue }
            if segments.count == 1, case .remove = operation {
                edits.append(Edit(range: line, bytes: []))
                continue
            }
            var value = Array(content[text])
            if let problem = self.editJSON(&value, Array(segments.dropFirst()), operation) {
                reason = reason ?? problem
            } else {
                edits.append(Edit(range: text, bytes: value))
            }
        }
        guard !edits.isEmpty else { return reason ?? self.isAbsent }
        content = EditList(edits).applied(to: content)
        return nil
    }

    // MARK: Forms

    private static func isForm(_ content: [UInt8], _ headers: HeaderFields) -> Bool {
        guard let index = headers.firstIndex(of: "content-type") else { return false }
        return MediaType(headers.valueBytes(at: index)).isForm
    }

    private static let isNoForm = "the body is not a form (application/x-www-form-urlencoded), so nothing is changed"

    private static func editForm(
        _ content: inout [UInt8], _ name: String, _ operation: EditStep.Operation, _ headers: HeaderFields
    ) -> String? {
        guard self.isForm(content, headers) else { return self.isNoForm }
        var items = NamedItems(content)
        if let reason = self.edit(&items, name, operation) { return reason }
        content = items.bytes
        return nil
    }

    /// Items of a query or a form with a name.
    static func edit(_ items: inout NamedItems, _ name: String, _ operation: EditStep.Operation) -> String? {
        let indices = items.indices(name)
        switch operation {
        case .set(let value):
            if let first = indices.first {
                items.replace(first, with: value.text)
                items.remove(Array(indices.dropFirst()))
            } else {
                items.append(name, value.text)
            }
            return nil
        case .remove:
            items.remove(indices)
            return indices.isEmpty ? self.isAbsent : nil
        case .replace(let replacement):
            guard !indices.isEmpty else { return self.isAbsent }
            var isChanged = false
            for index in indices {
                guard let new = replacement.replaced(in: items.value(index), limit: self.limit) else { continue }
                items.replace(index, with: new)
                isChanged = true
            }
            return isChanged ? nil : self.hasNoMatch
        }
    }

    private static func editForm(
        _ content: inout [UInt8], _ name: String, _ headers: HeaderFields, _ edit: (inout [UInt8]) -> String?
    ) -> String? {
        guard self.isForm(content, headers) else { return self.isNoForm }
        var items = NamedItems(content)
        let indices = items.indices(name)
        guard !indices.isEmpty else { return self.isAbsent }
        var reason: String?
        var isChanged = false
        for index in indices {
            var value = items.value(index)
            if let problem = edit(&value) {
                reason = reason ?? problem
            } else {
                items.replace(index, with: value)
                isChanged = true
            }
        }
        guard isChanged else { return reason }
        content = items.bytes
        return nil
    }

    // MARK: XML

    private static func editXML(_ content: inout [UInt8], _ pointer: PlacePointer, _ operation: EditStep.Operation) -> String? {
        guard let ranges = content.withUnsafeBytes({ XMLValues.ranges(pointer, in: $0) }) else {
            return "the body is not well-formed XML, so nothing is changed"
        }
        guard !ranges.isEmpty else { return self.isAbsent }
        var edits: [Edit] = []
        for range in ranges {
            switch operation {
            case .set(let value): edits.append(Edit(range: range, bytes: Self.escaped(value.text)))
            case .remove: return nil
            case .replace(let replacement):
                // The characters as they are spelled: an expression that looks for "&" has to say "&amp;".
                guard let new = replacement.replaced(in: Array(content[range]), limit: self.limit) else { continue }
                edits.append(Edit(range: range, bytes: new))
            }
        }
        guard !edits.isEmpty else { return self.hasNoMatch }
        content = EditList(edits).applied(to: content)
        return nil
    }

    private static func escaped(_ text: [UInt8]) -> [UInt8] { Array(XMLText.escape(String(decoding: text, as: UTF8.self)).utf8) }
}

/// Finds the characters of elements and the values of attributes that a pointer names.
enum XMLValues {
    private struct Element {
        /// The local name, alone and with its number among its siblings of that name.
        var names: [String]
        var counts: [String: Int] = [:]
        /// Where the characters are, if there is nothing else in the element.
        var text: Range<Int>?
        var hasElements = false
        let isNamed: Bool
    }

    /// Nil if the document is not well-formed. An element without characters of its own, or with other elements in it, has no range.
    static func ranges(_ pointer: PlacePointer, in text: UnsafeRawBufferPointer) -> [Range<Int>]? {
        let segments = pointer.segments.map { segment -> String in
            switch segment {
            case .any: "*"
            case .name(let name): String(decoding: name, as: UTF8.self)
            }
        }
        var reader = XMLReader(text)
        var found: [Range<Int>] = []
        var stack: [Element] = []
        var roots: [String: Int] = [:]
        var characters: [UInt8] = []
        while let token = reader.next(&characters) {
            characters.removeAll(keepingCapacity: true)
            switch token {
            case .start(let name, let attributes):
                let local = String(decoding: text[name.local], as: UTF8.self)
                let number = (stack.last?.counts[local] ?? roots[local] ?? 0) + 1
                if let last = stack.indices.last {
                    stack[last].counts[local] = number
                    stack[last].hasElements = true
                } else {
                    roots[local] = number
                }
                let names = [local, "\(local)[\(number)]"]
                let isNamed = self.matches(segments, stack, names, "*")
                stack.append(Element(names: names, isNamed: isNamed))
                for attribute in attributes {
                    let local = "@" + String(decoding: text[attribute.name.local], as: UTF8.self)
                    if self.matches(segments, stack, [local], "@*") { found.append(attribute.range) }
                }
            case .end:
                if let element = stack.popLast(), element.isNamed, !element.hasElements, let range = element.text { found.append(range) }
            case .text:
                guard let last = stack.indices.last else { continue }
                let range = reader.textRange
                stack[last].text = stack[last].text.map { $0.lowerBound..<range.upperBound } ?? range
                if self.matches(segments, stack, ["text()"], "text()") { found.append(range) }
            case .instruction: if let last = stack.indices.last { stack[last].hasElements = true }
            case .documentType: continue
            case .endOfDocument: return found
            }
        }
        return nil
    }

    private static func matches(_ segments: [String], _ stack: [Element], _ names: [String], _ any: String) -> Bool {
        guard segments.count == stack.count + 1, let last = segments.last, names.contains(last) || last == any else { return false }
        return zip(segments, stack).allSatisfy { segment, element in segment == "*" || element.names.contains(segment) }
    }
}
