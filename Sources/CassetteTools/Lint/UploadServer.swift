/// A server whose limits an upload is checked against, as they are when nobody has changed them.
package enum UploadServer: String, Sendable, CaseIterable {
    case php, django, flask, spring, multer

    package var name: String {
        switch self {
        case .php: "PHP"
        case .django: "Django"
        case .flask: "Flask"
        case .spring: "Spring Boot"
        case .multer: "multer"
        }
    }

    /// Sizes in bytes; `.max` for what has no limit. Each has the name of the setting that changes it.
    struct Limits {
        var body = Int.max
        var bodySetting = ""
        var file = Int.max
        var fileSetting = ""
        var files = Int.max
        var filesSetting = ""
        var fields = Int.max
        var fieldsSetting = ""
        /// Of all values that are not files.
        var text = Int.max
        var textSetting = ""
        /// Of one value that is not a file.
        var value = Int.max
        var valueSetting = ""
        /// Of a field's name.
        var name = Int.max
        var nameSetting = ""
    }

    var limits: Limits {
        switch self {
        // php.ini of PHP 8 without changes.
        case .php:
            Limits(
                body: 8 << 20, bodySetting: "post_max_size", file: 2 << 20, fileSetting: "upload_max_filesize", files: 20,
                filesSetting: "max_file_uploads", fields: 1000, fieldsSetting: "max_input_vars")
        // django/conf/global_settings.py of Django 5.
        case .django:
            Limits(
                files: 100, filesSetting: "DATA_UPLOAD_MAX_NUMBER_FILES", fields: 1000, fieldsSetting: "DATA_UPLOAD_MAX_NUMBER_FIELDS",
                text: 2_621_440, textSetting: "DATA_UPLOAD_MAX_MEMORY_SIZE")
        // werkzeug/wrappers/request.py of Werkzeug 3.1. It counts files and fields together.
        case .flask:
            Limits(fields: 1000, fieldsSetting: "MAX_FORM_PARTS", text: 500_000, textSetting: "MAX_FORM_MEMORY_SIZE")
        // spring.servlet.multipart of Spring Boot 3.
        case .spring:
            Limits(body: 10 << 20, bodySetting: "max-request-size", file: 1 << 20, fileSetting: "max-file-size")
        // The limits of busboy, which multer uses.
        case .multer: Limits(value: 1 << 20, valueSetting: "fieldSize", name: 100, nameSetting: "fieldNameSize")
        }
    }

    /// Whether a file that is named only by `filename*` is not seen as one.
    var ignoresExtendedNames: Bool { self == .php }
    /// Whether fields of the same name replace each other unless the name ends with `[]`.
    var keepsLastOfName: Bool { self == .php }
}
