/// What a part holds: data, or parts of its own.
public indirect enum MultipartContent<Data> {
    case data(Data)
    case multipart(MultipartBody<Data>)
}

extension MultipartContent: Sendable where Data: Sendable {}
extension MultipartContent: Equatable where Data: Equatable {}
extension MultipartContent: Hashable where Data: Hashable {}
