public import CassetteModel
public import CassetteStore

/// An encoded form: its octets can be read again and again, as for a retry or a redirect.
public enum EncodedFormData: Sendable {
    case memory([UInt8])
    /// Removed with the last reference to it.
    case file(TemporaryFile)

    public var size: Int {
        switch self {
        case .memory(let octets): octets.count
        case .file(let file): file.size
        }
    }

    public var source: OctetSource {
        switch self {
        case .memory(let octets): OctetSource(octets)
        case .file(let file): file.formSource
        }
    }
}

extension TemporaryFile {
    /// For the bytes of a form, in `folder`, or where the system keeps such files. What `write` throws is passed on.
    convenience init(form folder: String?, _ write: (_ piece: (UnsafeRawBufferPointer) throws -> Void) throws -> Void) throws {
        do {
            try self.init(in: folder, write)
        } catch let error as CassetteError {
            throw FormDataError(.unwritable, error.message)
        }
    }

    /// The bytes; what goes wrong is an error of the form.
    fileprivate var formSource: OctetSource {
        OctetSource(size: self.size) { offset, buffer in
            do throws(CassetteError) {
                return try self.read(into: buffer, at: offset)
            } catch {
                throw FormDataError(.unreadable, error.message)
            }
        }
    }
}
