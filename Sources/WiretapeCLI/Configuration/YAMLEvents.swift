internal import CYaml

/// The events of a YAML text (YAML 1.1), read by libyaml one at a time.
///
/// Knows no schema: scalars are text.
struct YAMLEvents: ~Copyable {
    /// What is wrong with a text, in the words of libyaml.
    struct Problem: Error {
        /// From 1; nil if the bytes themselves cannot be read.
        var line: Int?
        var reason: String
    }

    enum Event {
        case end
        case documentStart
        case scalar(String, isPlain: Bool, anchor: String?)
        case sequenceStart(anchor: String?)
        case sequenceEnd
        case mappingStart(anchor: String?)
        case mappingEnd
        case alias(String)
    }

    /// libyaml keeps pointers into the parser, so it has a place of its own in memory.
    private let parser: UnsafeMutablePointer<yaml_parser_t>
    private let text: UnsafeMutableBufferPointer<UInt8>

    /// - Parameter bytes: UTF-8.
    init(_ bytes: [UInt8]) throws(Problem) {
        let parser = UnsafeMutablePointer<yaml_parser_t>.allocate(capacity: 1)
        guard yaml_parser_initialize(parser) == 1 else {
            parser.deallocate()
            throw Problem(line: nil, reason: "out of memory")
        }
        self.parser = parser
        self.text = .allocate(capacity: bytes.count)
        _ = self.text.initialize(from: bytes)
        yaml_parser_set_encoding(self.parser, YAML_UTF8_ENCODING)
        yaml_parser_set_input_string(self.parser, self.text.baseAddress, self.text.count)
    }

    deinit {
        yaml_parser_delete(self.parser)
        self.parser.deallocate()
        self.text.deallocate()
    }

    /// The next event and its line, from 1; `.end` again and again after the last one.
    mutating func next() throws(Problem) -> (event: Event, line: Int) {
        while true {
            var event = yaml_event_t()
            // 1 for success, 0 for an error, which the parser then describes.
            guard yaml_parser_parse(self.parser, &event) == 1 else { throw self.problem }
            defer { yaml_event_delete(&event) }
            let line = Int(event.start_mark.line) + 1
            switch event.type {
            case YAML_DOCUMENT_START_EVENT: return (.documentStart, line)
            case YAML_SCALAR_EVENT:
                let scalar = event.data.scalar
                let value = String(decoding: UnsafeBufferPointer(start: scalar.value, count: scalar.length), as: UTF8.self)
                return (
                    .scalar(value, isPlain: scalar.style == YAML_PLAIN_SCALAR_STYLE, anchor: Self.string(scalar.anchor)), line
                )
            case YAML_SEQUENCE_START_EVENT: return (.sequenceStart(anchor: Self.string(event.data.sequence_start.anchor)), line)
            case YAML_SEQUENCE_END_EVENT: return (.sequenceEnd, line)
            case YAML_MAPPING_START_EVENT: return (.mappingStart(anchor: Self.string(event.data.mapping_start.anchor)), line)
            case YAML_MAPPING_END_EVENT: return (.mappingEnd, line)
            case YAML_ALIAS_EVENT: return (.alias(Self.string(event.data.alias.anchor) ?? ""), line)
            // Nothing comes after the end of the stream but this.
            case YAML_STREAM_END_EVENT, YAML_NO_EVENT: return (.end, line)
            // The beginning of the stream and the end of a document say nothing more.
            default: continue
            }
        }
    }

    private var problem: Problem {
        let reason = self.parser.pointee.problem.map { String(cString: $0) } ?? "this is not YAML"
        let hasPlace = self.parser.pointee.error == YAML_SCANNER_ERROR || self.parser.pointee.error == YAML_PARSER_ERROR
        return Problem(line: hasPlace ? Int(self.parser.pointee.problem_mark.line) + 1 : nil, reason: reason)
    }

    private static func string(_ text: UnsafeMutablePointer<yaml_char_t>?) -> String? { text.map { String(cString: $0) } }
}
