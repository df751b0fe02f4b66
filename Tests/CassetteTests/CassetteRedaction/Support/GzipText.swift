import CassetteFormat
import CassetteModel

enum GzipText {
    static func gunzip(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        let chain = DecoderChain([.gzip], limits: InflateLimits())
        bytes.withUnsafeBytes { _ = try? chain?.push($0) { text.append(contentsOf: $0) } }
        return chain?.finish() == true ? String(decoding: text, as: UTF8.self) : "not whole"
    }
}
