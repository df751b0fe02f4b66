import Foundation

@testable import Wiretape

extension AnswerAssembly.Call {
    /// One word for transcripts.
    var text: String {
        switch self {
        case .response(let head): "\(head.status)"
        case .body(let data): "\"\(String(decoding: data, as: UTF8.self))\""
        case .finished: "finished"
        case .failed(let failure): "failed: \(failure.message)"
        }
    }
}
