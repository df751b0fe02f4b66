internal import Foundation

extension MultipartFormData {
    /// Appends a part for each value in an object, named as `URLEncodedFormEncoder` names them: `name`, `list[]`, `object[key]`, sorted.
    ///
    /// `Data` becomes a part with its octets as they are, without a file name; all other values are text.
    ///
    /// - Parameter encoder: says how names, dates, `Bool` and nil are written.
    /// - Throws: `ParameterEncodingError` or `FormDataError`; nothing is appended then.
    public mutating func append(fieldsOf value: some Encodable, encoder: URLEncodedFormEncoder = URLEncodedFormEncoder()) throws {
        let leaves = encoder.leaves
        let raw = FormLeaves(bool: leaves.bool, data: { .octets($0) }, date: leaves.date, null: leaves.null)
        var form = self
        for pair in try encoder.fields.pairs(of: try FormValueEncoder.value(of: value, raw)) {
            switch pair.value {
            case .text(let text): try form.append(text, name: pair.name)
            case .octets(let octets): try form.append([UInt8](octets), name: pair.name)
            }
        }
        self = form
    }
}
