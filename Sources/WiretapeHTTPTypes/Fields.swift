#if HTTPTypes
public import HTTPTypes
public import Wiretape

extension HTTPSession.Headers {
    /// The same fields, in order, with the spelling of their names.
    public init(_ fields: HTTPFields) { self.init(fields.map { HTTPSession.Header(name: $0.name.rawName, value: $0.value) }) }
}

extension HTTPFields {
    /// The same fields, in order, with the spelling of their names. White space around a value is removed.
    ///
    /// - Throws: an error for a name that is not a token, or a value with a control character (RFC 9110, 5.5 and 5.6.2).
    public init(_ headers: HTTPSession.Headers) throws(HTTPSession.HeaderError) {
        self.init()
        for field in try headers.validated() {
            // A validated name is also valid for HTTPTypes.
            if let name = HTTPField.Name(field.name) { self.append(HTTPField(name: name, value: field.value)) }
        }
    }
}
#endif
