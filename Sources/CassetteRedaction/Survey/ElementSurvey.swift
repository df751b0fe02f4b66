internal import TapeBytes

/// Finds the texts within XML elements whose start tags have attributes, or whose content includes CDATA sections, comments or elements.
///
/// Reads backwards from an end tag, where the name is known. An element that is not closed has no recognisable value.
struct ElementSurvey {
    let text: SurveyText

    /// The most texts in one element.
    private static let countLimit = 32

    struct Element {
        /// Texts without tags, comments and surrounding blanks, each with the name of the element that contains it.
        var texts: [(name: Range<Int>, value: Range<Int>)]
        /// Whether it contains elements.
        var hasElements: Bool
        /// Whether it consists of a start tag without attributes, a text and the end tag.
        var isPlain: Bool
    }

    /// - Parameters:
    ///   - slash: the offset of the end tag's slash.
    ///   - floor: start tags are not searched for before this offset.
    func element(endingAt slash: Int, nameEnd: Int, floor: Int) -> Element? {
        let name = slash + 1..<nameEnd
        let close = slash - 1
        guard close >= 0, self.text.bytes[close] == UInt8(ascii: "<") else { return nil }
        var open = close - 1
        let least = max(floor, close - NamedValue.limit, 0)
        while open >= least {
            if self.text.bytes[open] == UInt8(ascii: "<"), self.isTag(named: name, at: open) { break }
            open -= 1
        }
        guard open >= least, let start = self.endOfTag(open), start <= close, self.text.bytes[start - 2] != UInt8(ascii: "/") else {
            return nil
        }
        return self.content(start..<close, name, hasAttributes: start - open > name.count + 2)
    }

    private func isTag(named name: Range<Int>, at open: Int) -> Bool {
        guard self.text.bytes.count - open > name.count + 1 else { return false }
        let next = self.text.bytes[open + 1 + name.count]
        guard next <= 32 || next == UInt8(ascii: ">") || next == UInt8(ascii: "/") else { return false }
        return self.text.bytes[open + 1..<open + 1 + name.count].elementsEqual(self.text.bytes[name])
    }

    /// The offset after the `>` that ends a tag; quoted values may contain others.
    private func endOfTag(_ open: Int) -> Int? {
        var offset = open + 1
        var quote: UInt8?
        let most = min(self.text.bytes.count, open + NamedValue.limit)
        while offset < most {
            let byte = self.text.bytes[offset]
            if let open = quote {
                if byte == open { quote = nil }
            } else if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
                quote = byte
            } else if byte == UInt8(ascii: ">") {
                return offset + 1
            }
            offset += 1
        }
        return nil
    }

    private func content(_ range: Range<Int>, _ name: Range<Int>, hasAttributes: Bool) -> Element? {
        var element = Element(texts: [], hasElements: false, isPlain: !hasAttributes)
        var names = [name]
        var offset = range.lowerBound
        while offset < range.upperBound {
            guard element.texts.count < Self.countLimit else { return nil }
            guard self.text.bytes[offset] == UInt8(ascii: "<") else {
                var end = offset
                while end < range.upperBound, self.text.bytes[end] != UInt8(ascii: "<") { end += 1 }
                self.add(offset..<end, names, &element)
                offset = end
                continue
            }
            element.isPlain = false
            if self.begins("<![CDATA[", offset) {
                guard let end = self.find("]]>", offset + 9, range.upperBound) else { return nil }
                self.add(offset + 9..<end, names, &element)
                offset = end + 3
            } else if self.begins("<!--", offset) {
                guard let end = self.find("-->", offset + 4, range.upperBound) else { return nil }
                offset = end + 3
            } else {
                guard let end = self.endOfTag(offset), end <= range.upperBound else { return nil }
                if self.text.byte(offset + 1) == UInt8(ascii: "/") {
                    if names.count > 1 { names.removeLast() }
                } else if self.text.byte(offset + 1) != UInt8(ascii: "?") {
                    element.hasElements = true
                    if self.text.byte(end - 2) != UInt8(ascii: "/") {
                        var last = offset + 1
                        while last < end, self.text.bytes[last] > 32, !">/".utf8.contains(self.text.bytes[last]) { last += 1 }
                        let colon = (offset + 1..<last).last { self.text.bytes[$0] == UInt8(ascii: ":") }
                        names.append((colon.map { $0 + 1 } ?? offset + 1)..<last)
                    }
                }
                offset = end
            }
        }
        return element
    }

    private func add(_ range: Range<Int>, _ names: [Range<Int>], _ element: inout Element) {
        var range = range
        while let first = range.first, self.text.bytes[first] <= 32 { range.removeFirst() }
        while let last = range.last, self.text.bytes[last] <= 32 { range.removeLast() }
        guard !range.isEmpty, let name = names.last else { return }
        element.texts.append((name, range))
    }

    private func begins(_ words: StaticString, _ offset: Int) -> Bool {
        offset + words.utf8CodeUnitCount <= self.text.bytes.count
            && (0..<words.utf8CodeUnitCount).allSatisfy { self.text.bytes[offset + $0] == words.utf8Start[$0] }
    }

    private func find(_ words: StaticString, _ start: Int, _ end: Int) -> Int? {
        guard end - start >= words.utf8CodeUnitCount else { return nil }
        return (start...end - words.utf8CodeUnitCount).first { self.begins(words, $0) }
    }

    // MARK: Pairs

    private static let names: [StaticString] = ["key", "name", "n", "k", "parameterkey"]

    /// The value of `<key>NAME</key><string>VALUE</string>`, as in property lists, and of other pairs of elements.
    ///
    /// - Parameter nameEnd: the beginning of the end tag after the name.
    func valueOfPair(_ start: Int, _ nameEnd: Int) -> (range: Range<Int>, isNumber: Bool)? {
        guard start > 1, self.text.bytes[start - 1] == UInt8(ascii: ">"), self.text.byte(nameEnd + 1) == UInt8(ascii: "/") else {
            return nil
        }
        var tag = nameEnd + 2
        while let byte = self.text.byte(tag), byte != UInt8(ascii: ">"), tag - nameEnd < 32 { tag += 1 }
        guard Self.names.contains(where: { self.text.isWord($0, endingAt: tag) && self.endsName(tag - $0.utf8CodeUnitCount - 1) }) else {
            return self.valueOfEntry(start, nameEnd + 2..<tag).map { ($0, false) }
        }
        let open = self.text.skipSpace(tag + 1)
        guard self.text.byte(open) == UInt8(ascii: "<"), let next = self.text.byte(open + 1), next != UInt8(ascii: "/"),
            let from = self.endOfTag(open), self.text.byte(from - 2) != UInt8(ascii: "/"), let value = self.value(from: from)
        else { return nil }
        return (value, self.begins("<integer", open) || self.begins("<real", open))
    }

    /// Elements that contain a name and a value in two elements of the same kind: a map in XStream and Java.
    private static let entries: [StaticString] = ["entry", "pair", "tuple", "void", "item", "e"]

    /// The value of `<entry><string>NAME</string><string>VALUE</string></entry>`, of `<key><string>NAME</string></key><value>…`, and of
    /// `<param-name>NAME</param-name><param-value>VALUE</param-value>`.
    ///
    /// - Parameter tag: the name in the end tag after the name.
    private func valueOfEntry(_ start: Int, _ tag: Range<Int>) -> Range<Int>? {
        guard self.text.byte(tag.upperBound) == UInt8(ascii: ">") else { return nil }
        if self.text.isWord("-name", endingAt: tag.upperBound) { return self.valueOfSuffix(after: tag.upperBound + 1) }
        var open = start - 2
        while open > 0, start - open < 64, self.text.bytes[open] != UInt8(ascii: "<") { open -= 1 }
        // The start tag of the parent is directly before that of the name.
        let parent = self.text.skipSpaceBack(open)
        guard open > 0, self.text.byte(parent - 1) == UInt8(ascii: ">"), self.text.byte(parent - 2) != UInt8(ascii: "/") else { return nil }
        var outer = parent - 2
        while outer > 0, parent - outer < 128, self.text.bytes[outer] != UInt8(ascii: "<") { outer -= 1 }
        guard self.text.byte(outer) == UInt8(ascii: "<"), self.text.byte(outer + 1) != UInt8(ascii: "/") else { return nil }
        var end = outer + 1
        while let byte = self.text.byte(end), byte > 32, byte != UInt8(ascii: ">"), end - outer < 64 { end += 1 }
        func isParent(_ word: StaticString) -> Bool {
            self.text.isWord(word, endingAt: end) && self.beginsName(end - word.utf8CodeUnitCount - 1)
        }
        let next: Int
        if isParent("key") {
            let close = self.text.skipSpace(tag.upperBound + 1)
            guard self.begins("</", close), let after = self.endOfTag(close) else { return nil }
            next = self.text.skipSpace(after)
        } else if Self.entries.contains(where: isParent) {
            next = self.text.skipSpace(tag.upperBound + 1)
        } else {
            return nil
        }
        guard self.text.byte(next) == UInt8(ascii: "<"), let letter = self.text.byte(next + 1), letter != UInt8(ascii: "/"),
            let from = self.endOfTag(next), self.text.byte(from - 2) != UInt8(ascii: "/")
        else { return nil }
        return self.value(from: from)
    }

    /// The value of the next element whose name ends with `-value`, behind at most two others (Jakarta Servlet, web.xml).
    private func valueOfSuffix(after start: Int) -> Range<Int>? {
        var offset = start
        for _ in 0..<3 {
            let open = self.text.skipSpace(offset)
            guard self.text.byte(open) == UInt8(ascii: "<"), self.text.byte(open + 1) != UInt8(ascii: "/"), let from = self.endOfTag(open),
                let value = self.value(from: from)
            else { return nil }
            if self.text.isWord("-value>", endingAt: from) { return value }
            guard self.begins("</", value.upperBound), let end = self.endOfTag(value.upperBound) else { return nil }
            offset = end
        }
        return nil
    }

    /// The most bytes of a value in CDATA next to its name.
    private static let dataLimit = 2048
    /// How deeply a value may be nested in elements: `<value><string>X`.
    private static let valueDepth = 3
    private static let values: [StaticString] = ["value", "string", "base64", "text", "val", "attributevalue", "data", "parametervalue"]

    /// The text or CDATA that begins an element, or that is in value elements within it, up to its end tag.
    ///
    /// - Parameter start: the offset after the start tag.
    func value(from start: Int) -> Range<Int>? {
        var from = start
        for _ in 0..<Self.valueDepth {
            let open = self.text.skipSpace(from)
            guard self.text.byte(open) == UInt8(ascii: "<"), let end = self.endOfTag(open), self.text.byte(end - 2) != UInt8(ascii: "/")
            else {
                break
            }
            var last = open + 1
            while last < end, self.text.bytes[last] > 32, !">/".utf8.contains(self.text.bytes[last]) { last += 1 }
            guard Self.values.contains(where: { self.text.isWord($0, endingAt: last) && self.beginsName(last - $0.utf8CodeUnitCount - 1) })
            else { break }
            from = end
        }
        let open = self.text.skipSpace(from)
        let isData = self.begins("<![CDATA[", open)
        let value = isData ? open + 9 : from
        // Limited, since unterminated CDATA sections may begin one after the other.
        let most = min(self.text.bytes.count, value + (isData ? Self.dataLimit : NamedValue.limit))
        var end = value
        while end < most, isData ? !self.begins("]]>", end) : self.text.bytes[end] != UInt8(ascii: "<") { end += 1 }
        guard end < most, isData || self.text.byte(end + 1) == UInt8(ascii: "/") else { return nil }
        var range = value..<end
        while let first = range.first, self.text.bytes[first] <= 32 { range.removeFirst() }
        while let last = range.last, self.text.bytes[last] <= 32 { range.removeLast() }
        return range.isEmpty ? nil : range
    }

    private func beginsName(_ offset: Int) -> Bool {
        self.text.byte(offset) == UInt8(ascii: "<") || self.text.byte(offset) == UInt8(ascii: ":")
    }

    /// The value of `<value><string>VALUE</string></value><name>NAME</name>`.
    ///
    /// - Parameter nameStart: the offset after the start tag of the name's element.
    func valueBeforePair(_ nameStart: Int) -> Range<Int>? {
        guard nameStart > 6, self.text.bytes[nameStart - 1] == UInt8(ascii: ">") else { return nil }
        var open = nameStart - 2
        while open > 0, nameStart - open < 32, self.text.bytes[open] != UInt8(ascii: "<") { open -= 1 }
        guard
            Self.names.contains(where: {
                self.text.isWord($0, endingAt: nameStart - 1) && self.beginsName(nameStart - 2 - $0.utf8CodeUnitCount)
            })
        else { return nil }
        // The end tags of values, then the text.
        var end = self.text.skipSpaceBack(open)
        for depth in 0...Self.valueDepth {
            guard self.text.byte(end - 1) == UInt8(ascii: ">") else {
                guard depth > 0 else { return nil }
                break
            }
            var tag = end - 1
            while tag > 0, end - tag < 32, self.text.bytes[tag] != UInt8(ascii: "<") { tag -= 1 }
            guard self.begins("</", tag), depth > 0 || self.text.isWord("value", endingAt: end - 1) else { return nil }
            end = self.text.skipSpaceBack(tag)
        }
        var start = end
        while start > 0, end - start < Self.valueBeforeLimit, self.text.bytes[start - 1] != UInt8(ascii: ">") { start -= 1 }
        while start < end, self.text.bytes[start] <= 32 { start += 1 }
        return start < end && end - start < Self.valueBeforeLimit ? start..<end : nil
    }

    /// The longest value that precedes its name, in bytes.
    private static let valueBeforeLimit = 4096

    private func endsName(_ offset: Int) -> Bool {
        self.text.byte(offset) == UInt8(ascii: "/") || self.text.byte(offset) == UInt8(ascii: ":")
    }
}
