internal import CYaml

/// The events of a YAML text (YAML 1.1), read by libyaml one at a time.
///
/// Applies no schema: scalars are text, and tags are names.
package struct YAMLEvents: ~Copyable {
    /// What is wrong with a text, in libyaml's words.
    package struct Problem: Error {
        /// Counts from 1; nil if the bytes themselves cannot be read.
        package var line: Int?
        package var reason: String

        package init(line: Int?, reason: String) {
            self.line = line
            self.reason = reason
        }
    }

    /// The anchor and the tag of a value.
    package struct Properties {
        package var anchor: String?
        /// In full, such as `tag:yaml.org,2002:binary`.
        package var tag: String?
    }

    package enum Event {
        case end
        case documentStart
        case scalar(String, isPlain: Bool, Properties)
        case sequenceStart(Properties)
        case sequenceEnd
        case mappingStart(Properties)
        case mappingEnd
        case alias(String)
    }

    /// Returns the next bytes of a text, at most `count`; none at its end.
    package typealias Input = (_ count: Int) throws -> [UInt8]

    /// The source of libyaml's text, and the error that ended it.
    private final class Source {
        private let input: Input
        private var isAtStart = true
        var failure: (any Error)?

        init(_ input: @escaping Input) { self.input = input }

        /// The next bytes, at most `count`, without the byte order mark at the start of the text. To libyaml, which is told the encoding, the
        /// mark would be a column, so that what follows it is indented and the next line is not.
        func read(_ count: Int) throws -> [UInt8] {
            guard self.isAtStart else { return try self.input(count) }
            self.isAtStart = false
            let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
            var start: [UInt8] = []
            while start.count < mark.count, mark.starts(with: start) {
                let bytes = try self.input(count - start.count)
                guard !bytes.isEmpty else { return start }
                start += bytes
            }
            guard start.starts(with: mark) else { return start }
            start.removeFirst(mark.count)
            return start.isEmpty ? try self.input(count) : start
        }
    }

    /// Allocated separately, because libyaml keeps pointers into the parser.
    private let parser: UnsafeMutablePointer<yaml_parser_t>
    private let source: Source

    /// - Parameter bytes: UTF-8.
    package init(_ bytes: [UInt8]) throws(Problem) {
        var rest = bytes[...]
        try self.init { count in
            defer { rest = rest.dropFirst(count) }
            return Array(rest.prefix(count))
        }
    }

    /// - Parameter input: returns UTF-8. If it throws, the text has a problem, and `failure` is the error.
    package init(_ input: @escaping Input) throws(Problem) {
        let parser = UnsafeMutablePointer<yaml_parser_t>.allocate(capacity: 1)
        guard yaml_parser_initialize(parser) == 1 else {
            parser.deallocate()
            throw Problem(line: nil, reason: "out of memory")
        }
        self.parser = parser
        self.source = Source(input)
        yaml_parser_set_encoding(self.parser, YAML_UTF8_ENCODING)
        // SAFETY: the source outlives the parser, which is deleted first.
        yaml_parser_set_input(
            self.parser,
            { data, buffer, size, read in
                guard let data, let buffer, let read else { return 0 }
                let source = Unmanaged<Source>.fromOpaque(data).takeUnretainedValue()
                do {
                    let bytes = try source.read(size)
                    for (index, byte) in bytes.prefix(size).enumerated() { buffer[index] = byte }
                    read.pointee = min(bytes.count, size)
                    return 1
                } catch {
                    source.failure = error
                    return 0
                }
            }, Unmanaged.passUnretained(self.source).toOpaque())
    }

    deinit {
        yaml_parser_delete(self.parser)
        self.parser.deallocate()
    }

    /// The error that the input threw.
    package var failure: (any Error)? { self.source.failure }

    /// The next event and its line, counted from 1; `.end` repeatedly after the last one.
    package mutating func next() throws(Problem) -> (event: Event, line: Int) {
        while true {
            var event = yaml_event_t()
            // 1 means success. 0 means an error, which the parser then describes.
            guard yaml_parser_parse(self.parser, &event) == 1 else { throw self.problem }
            defer { yaml_event_delete(&event) }
            let line = Int(event.start_mark.line) + 1
            switch event.type {
            case YAML_DOCUMENT_START_EVENT: return (.documentStart, line)
            case YAML_SCALAR_EVENT:
                let scalar = event.data.scalar
                let value = String(decoding: UnsafeBufferPointer(start: scalar.value, count: scalar.length), as: UTF8.self)
                let properties = Self.properties(scalar.anchor, scalar.tag)
                return (.scalar(value, isPlain: scalar.style == YAML_PLAIN_SCALAR_STYLE, properties), line)
            case YAML_SEQUENCE_START_EVENT:
                let start = event.data.sequence_start
                return (.sequenceStart(Self.properties(start.anchor, start.tag)), line)
            case YAML_SEQUENCE_END_EVENT: return (.sequenceEnd, line)
            case YAML_MAPPING_START_EVENT:
                let start = event.data.mapping_start
                return (.mappingStart(Self.properties(start.anchor, start.tag)), line)
            case YAML_MAPPING_END_EVENT: return (.mappingEnd, line)
            case YAML_ALIAS_EVENT: return (.alias(Self.string(event.data.alias.anchor) ?? ""), line)
            // After the end of the stream, the parser returns only empty events.
            case YAML_STREAM_END_EVENT, YAML_NO_EVENT: return (.end, line)
            // The start of the stream and the end of a document carry no information.
            default: continue
            }
        }
    }

    private var problem: Problem {
        let reason = self.parser.pointee.problem.map { String(cString: $0) } ?? "this is not YAML"
        let hasPlace = self.parser.pointee.error == YAML_SCANNER_ERROR || self.parser.pointee.error == YAML_PARSER_ERROR
        return Problem(line: hasPlace ? Int(self.parser.pointee.problem_mark.line) + 1 : nil, reason: reason)
    }

    private static func properties(
        _ anchor: UnsafeMutablePointer<yaml_char_t>?, _ tag: UnsafeMutablePointer<yaml_char_t>?
    ) -> Properties { Properties(anchor: self.string(anchor), tag: self.string(tag)) }

    private static func string(_ text: UnsafeMutablePointer<yaml_char_t>?) -> String? { text.map { String(cString: $0) } }
}
