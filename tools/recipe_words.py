"""The words of docs/recipes.md that are no field's comment, and the whole of its Chinese, by class and field."""

EXAMPLE = """```toml
task = "translation"
name = "mine"

[data]
train_source = "train.en"
train_target = "train.de"
dev_source = "dev.en"
dev_target = "dev.de"

[model]
preset = "tiny"

[training]
steps = 2000
batch_tokens = 2048

[training.schedule]
warmup = 0.1
```
"""
WORDS = {
    "en": {
        "title": "What every key of a recipe means",
        "made": "Made by tools/recipe_reference.py from the dataclasses of src/clearformer: edit the comments there, "
        "then run it again.",
        "table": "| key | value | default | meaning |",
        "int": "whole number", "float": "number", "str": "text", "bool": "true or false",
        "list": "list of {}", "or": " or ", "empty": "empty", "none": "left out", "required": "must be given",
        "shared": "Every recipe", "comma": ", ",
        "section": "a section",
        "other": "As above, except for these defaults: {}.", "same": "As above.",
    },
    "zh": {
        "title": "配方里每个键的含义",
        "made": "由 tools/recipe_reference.py 根据 src/clearformer 的数据类生成：请改那里的注释，再运行一次。",
        "table": "| 键 | 取值 | 默认值 | 含义 |",
        "int": "整数", "float": "数", "str": "文字", "bool": "true 或 false",
        "list": "{}的列表", "or": " 或 ", "empty": "空", "none": "不写", "required": "必填",
        "shared": "所有配方共有", "comma": "，",
        "section": "一节",
        "other": "同上，只有默认值不同：{}。", "same": "同上。",
    },
}  # fmt: skip
OPENING = {
    "en": f"""A recipe is a TOML file that describes one training run. Its first line names the task, which decides what
`[data]`, `[objective]`, `[use]` and `[scoring]` may say; `[training]` and `[model]` are the same for every task. Any
key can be changed on the command line by its path: `clearformer train sample training.steps=500 model.layers=2`. A key
that does not exist, or a value of another type, is an error that names the key and the nearest one that exists.

`clearformer train` writes the recipe as it was used, with every default, into the folder of the run (`recipe.toml`).
The recipes that ship are in `src/clearformer/recipes`; `clearformer train --help` lists them. A small complete one:

{EXAMPLE}""",
    "zh": f"""配方是一个 TOML 文件，描述一次训练。第一行写明任务；任务决定 `[data]`、`[objective]`、`[use]`、`[scoring]`
四节里可以写什么，`[training]` 和 `[model]` 则对所有任务都一样。任何一个键都可以在命令行上按路径修改：
`clearformer train sample training.steps=500 model.layers=2`。键不存在、或值的类型不对，都会报错，
并说明是哪个键、最接近的正确写法是什么。

`clearformer train` 会把实际用到的配方连同全部默认值写进训练文件夹（`recipe.toml`）。自带的配方在
`src/clearformer/recipes`，`clearformer train --help` 会列出它们。一个完整的小配方：

{EXAMPLE}""",
}
MODEL_NOTE = {
    "en": "Begin with one of the first three keys; the other keys are laid over it. The defaults here are the "
    "dataclass's; a preset or a family has its own. What the data decides (`vocab_size`, classes, the size of "
    "pictures) need not be given.",
    "zh": "前三个键任选一个作起点，其余的键覆盖在它上面。这里列的是数据类的默认值，预设和家族各有自己的值。"
    "由数据决定的（`vocab_size`、类别数、图片大小）不用写。",
}

CHINESE = {
    "Recipe.task": "模型的用途；决定 [data]、[objective]、[use]、[scoring] 四节怎样解读",
    "Recipe.name": "这次训练的名字；不给 --out 时，文件夹就是 runs/ 加这个名字",
    "model.preset": "从某个现成的尺寸出发：{}",
    "model.family": "从某个已发表的家族出发，用它的默认尺寸：{}",
    "model.from": "从某个模型文件夹出发，沿用它的权重、尺寸和词表（微调）",
    # training
    "TrainingConfig": "训练多久、多久做一次什么、出了问题怎么办。",
    "TrainingConfig.steps": "权重更新的次数",
    "TrainingConfig.save_every": "每隔多少步存一个检查点",
    "TrainingConfig.validate_every": "每隔多少步在开发集上验证一次；验证时也会存检查点",
    "TrainingConfig.log_every": "每隔多少步往 metrics.jsonl 写一行",
    "TrainingConfig.seed": "随机种子：初始权重、数据顺序和 dropout 都由它决定",
    "TrainingConfig.batch_tokens": "一批最多多少词元，按较长的一侧计，含填充；一张图片算一个",
    "TrainingConfig.batch_examples": "一批最多多少样本；与上一项比，以先到者为准",
    "TrainingConfig.accumulate": "每次更新累积几个小批",
    "TrainingConfig.replicas": "一批样本按行分给几个线程；0：由机器情况决定",
    "TrainingConfig.patience": "连续几次验证没有进步就提前停止；0：从不",
    "TrainingConfig.keep": "除最好的之外，保留几个检查点",
    "TrainingConfig.average": "最终模型取最后几个检查点的平均",
    "TrainingConfig.precision": "前向计算的精度；bfloat16 用于支持它的 GPU",
    "TrainingConfig.spike": "损失超过滑动平均的这么多倍时，这一批不学",
    "TrainingConfig.bad_updates": "连续这么多次坏的更新，就退回上一个检查点",
    "ScheduleConfig": "学习率怎样随步数变化。",
    "ScheduleConfig.kind": "预热之后学习率怎样下降",
    "ScheduleConfig.peak": "最高学习率；不写则用 2017 年论文的公式 (dim · warmup)^-½",
    "ScheduleConfig.warmup": "预热：学习率升到最高点所用的步数；小于 1 时表示占总步数的比例",
    "ScheduleConfig.floor": "cosine 和 linear 最终降到多少",
    "OptimiserConfig": "Adam 用 2017 年论文的常数；Muon 管各层的矩阵，其余仍归 Adam。",
    "OptimiserConfig.kind": "批次足够大时，muon 从同样的文本里学到更多",
    "OptimiserConfig.momentum": "Muon：每一步里“过去”所占的比例",
    "OptimiserConfig.beta1": "Adam：梯度均值里“过去”所占的比例",
    "OptimiserConfig.beta2": "Adam：梯度平方的均值里“过去”所占的比例",
    "OptimiserConfig.eps": "Adam：梯度极小时不让步长发散",
    "OptimiserConfig.decay": "矩阵的权重衰减；大于 0 时 Adam 就成了 AdamW",
    "OptimiserConfig.clip": "梯度范数的上限；0：从不裁剪，与论文一致",
    "OptimiserConfig.ema": "权重滑动平均的衰减率；验证和最终模型都用平均后的权重；0：不做",
    # model
    "ModelConfig": "搭建一个模型所需的全部选择。",
    "ModelConfig.family": "从某个已发表的家族出发",
    "ModelConfig.shape": "由哪些堆叠组成；家族已定好",
    "ModelConfig.vocab_size": "词元数；由数据决定",
    "ModelConfig.target_vocab_size": "目标一侧的词元数；不写则与 vocab_size 相同",
    "ModelConfig.dim": "宽度：每个状态有多少个数",
    "ModelConfig.hidden_dim": "前馈网络的宽度",
    "ModelConfig.layers": "编码器（或唯一的堆叠）的层数",
    "ModelConfig.decoder_layers": "解码器的层数；不写则与 layers 相同",
    "ModelConfig.max_len": "输入最长多少词元；位置表或上下文长度需要它",
    "ModelConfig.decoder_position": "解码器另用一种位置编码；Whisper：编码器用正弦波，解码器用位置表",
    "ModelConfig.activation": "前馈网络的激活函数",
    "ModelConfig.gated": "激活值再乘以另一个投影，即 SwiGLU 的做法",
    "ModelConfig.bias": "前馈网络的投影是否带偏置",
    "ModelConfig.kernel": "卷积网络：一层混合几个相邻位置",
    "ModelConfig.bottleneck": "自编码器：编码有几个数",
    "ModelConfig.share_layers": "ALBERT：只有一层，重复运行 `layers` 次",
    "ModelConfig.init_std": "初始权重取这个标准差的正态分布；不写：矩阵用 Xavier，表用 1/√dim",
    "AttentionConfig": "注意力头及其形状。",
    "AttentionConfig.heads": "每层的注意力头数",
    "AttentionConfig.kv_heads": "键和值的头数；不写则与 heads 相同；少于 heads 是分组查询，1 是多查询注意力",
    "AttentionConfig.head_dim": "每个头的宽度；不写则为 dim / heads",
    "AttentionConfig.bias": "四个投影是否带偏置",
    "AttentionConfig.key_bias": "键的投影是否带偏置；Whisper 没有，因为它改变不了权重",
    "AttentionConfig.scale": "分数乘以多少；不写则为 1/√head_dim；T5 用 1，改为缩小初始权重",
    "AttentionConfig.cross": "写 false，循环网络基线就没有注意力",
    "AttentionConfig.window": "解码器最多往回看多远；不写则一直看到开头",
    "PositionConfig": "位置信息怎样进入模型。",
    "PositionConfig.kind": "位置怎样进入模型：加到嵌入上（正弦波、位置表），旋转 q 和 k（rotary），或加到分数上",
    "PositionConfig.base": "正弦波和 rotary 的底数",
    "PositionConfig.offset": "第一个位置的编号：位置表的前几行不用，或正弦波从后面开始",
    "PositionConfig.pairs": "rotary：哪两个数一起旋转",
    "PositionConfig.scaling": "rotary：超过训练长度时怎样缩放",
    "PositionConfig.factor": "rotary 缩放：是训练长度的几倍",
    "PositionConfig.buckets": "T5：区分多少种距离",
    "PositionConfig.max_distance": "T5：最后一个桶从哪里开始；Shaw：距离截断在哪里",
    "NormConfig": "用哪种归一化，放在哪里。",
    "NormConfig.kind": "LayerNorm、RMSNorm 或 BatchNorm（后者用来说明为什么不用它）",
    "NormConfig.place": "放在每个子层之后（2017 年的做法），或之前（不需要长预热）",
    "NormConfig.eps": "加到方差上，防止除以零",
    "NormConfig.final": "堆叠之后再加一个；前归一化需要它，torch.nn.Transformer 总有它",
    "DropoutConfig": "四处 dropout 的比例，各篇论文的选择不同。",
    "DropoutConfig.embedding": "嵌入与位置之和",
    "DropoutConfig.attention": "注意力权重",
    "DropoutConfig.activation": "前馈网络内部",
    "DropoutConfig.residual": "注意力和前馈网络加到残差上的部分",
    "EmbeddingConfig": "词元向量表，以及怎样使用它。",
    "EmbeddingConfig.dim": "ALBERT：比模型窄，再用投影加宽",
    "EmbeddingConfig.scale": "乘以 √dim",
    "EmbeddingConfig.types": "BERT：每种片段类型一个向量",
    "EmbeddingConfig.norm": "向量、位置、类型相加之后再归一化",
    "EmbeddingConfig.tie": "哪些表是同一张：源 = 目标 = 输出，源 = 目标（T5 1.1），目标 = 输出，或各自独立",
    "FrontConfig": "编码器（或解码器）读什么。",
    "FrontConfig.kind": "文本的词元、图片的小块，或录音的频谱",
    "FrontConfig.picture": "图片：边长多少像素",
    "FrontConfig.patch": "图片：每个小块边长多少像素",
    "FrontConfig.channels": "图片：1 为灰度，3 为彩色",
    "FrontConfig.mels": "录音：梅尔频带数",
    "HeadConfig": "由状态得出什么。",
    "HeadConfig.kind": "模型由状态给出什么结果；由任务决定",
    "HeadConfig.labels": "类别数",
    "HeadConfig.bias": "语言模型：每个词元一个偏置",
    "HeadConfig.transform": "语言模型：查表之前先过 BERT 的全连接层、激活函数和归一化",
    "HeadConfig.shrink": "语言模型：查表之前状态除以 √dim，T5 的表共享时这样做",
    "HeadConfig.pool": "分类：用哪些状态代表整个输入",
    "HeadConfig.pooler": "分类与向量：对第一个状态做 BERT 的全连接层和 tanh",
    "HeadConfig.pooler_activation": "分类：pooler 的激活函数；DistilBERT 用 relu",
    "HeadConfig.class_bias": "分类：每个类别一个偏置",
    "HeadConfig.dropout": "分类与标注：分类前的状态的 dropout",
    "HeadConfig.queries": "带框的编码器–解码器：最多能找出几个",
    # data
    "DataFiles.corpus": "`clearformer data list` 列出的语料名；此时文件名相对于它的文件夹，否则相对于配方",
    "DataFiles.attribution": "用这些数据训练的模型应当怎样注明出处",
    "DataFiles.licence": "数据的许可证；会写进模型文件夹",
    "TokenizerConfig": "词表的各种选择。",
    "TokenizerConfig.kind": "BPE 合并、BERT 的 WordPiece、unigram 模型、单个字符，或字节",
    "TokenizerConfig.vocab_size": "最多多少个词元，含特殊词元",
    "TokenizerConfig.normalise": "切分之前先抹去哪些差别；默认什么都不抹",
    "TokenizerConfig.prefix_space": "让词在句首和句中切法相同；不用空格分词的文字写 false",
    "TokenizerConfig.min_frequency": "出现次数更少的字符和合并不收进词表",
    "ParallelData": "平行文本：源文件的第 n 行对应目标文件的第 n 行。",
    "ParallelData.source_language": "源语言，如 en；随模型保存",
    "ParallelData.target_language": "目标语言，如 de；决定 BLEU 怎样切词",
    "ParallelData.train_source": "要翻译的句子，每行一句；一个文件或多个",
    "ParallelData.train_target": "逐行对应的译文；文件数相同",
    "ParallelData.dev_source": "开发集，训练从不学它",
    "ParallelData.dev_target": "开发集的译文，用来挑选最好的检查点",
    "ParallelData.test_source": "测试集，最后才用",
    "ParallelData.test_target": "测试集的译文",
    "ParallelData.joint": "两种语言共用一个词表",
    "ParallelData.max_length": "任一侧超过这么多词元的句对不用，并计数",
    "ParallelData.split_pieces": "把一个词元拆回合并前的两个来读的概率（BPE-dropout），适合小语料",
    "RunningText": "普通文本，从头读到尾。",
    "RunningText.train": "文本文件，一个接一个地读",
    "RunningText.dev": "用来挑选最好检查点的文本；空：取 train 的末尾",
    "RunningText.test": "最后测试用的文本",
    "RunningText.hold_out": "没有 `dev` 时，留出的字符比例",
    "RunningText.context": "模型一次看多少词元",
    "LabelledData": "一张表（CSV、TSV 或 JSON 行），每行一段文本和一个标签；没有指明的列会自动找。",
    "LabelledData.train": "用来学习的表",
    "LabelledData.dev": "用来挑选最好检查点的表；空：从 train 里留出",
    "LabelledData.test": "最后测试用的表",
    "LabelledData.text": "文本那一列的名字；没有表头时写列号，从 1 数起",
    "LabelledData.label": "标签那一列的名字",
    "LabelledData.second": "类别属于一对文本时，第二段文本那一列的名字",
    "LabelledData.kind": "标签是什么：一个类别、多个标签（`a|b`、`a;b` 或 JSON 列表），还是一个数",
    "LabelledData.labels": "多个标签时：每个标签一列、值为 0 或 1 的那些列的名字，用来代替 `label`",
    "LabelledData.origin": "写明每一行出处的那一列的名字，供报告使用",
    "LabelledData.hold_out": "没有 dev 时，每个类别留出的比例",
    "LabelledData.max_length": "最多多少词元；更长的文本只读开头，并报告有多少条",
    "LabelledData.word_dropout": "训练时遮住一个词元的概率",
    "QuestionData": "SQuAD 格式的文件：针对文本的问题，答案是文本中的一段。",
    "QuestionData.train": "用来学习的文件",
    "QuestionData.dev": "用来挑选最好检查点的文件；空：从 train 里留出",
    "QuestionData.test": "最后测试用的文件",
    "QuestionData.hold_out": "没有 dev 时，留出多大比例的文本",
    "QuestionData.max_length": "问题和文本合起来最多多少词元；更长的文本分成重叠的窗口来读",
    "QuestionData.elsewhere": "多大比例的问题还要拿去问另一段没有答案的文本",
    "TaggedData": "CoNLL 文件：每行一个词和它的标记，句子之间空一行。",
    "TaggedData.train": "用来学习的文件；一个或一列",
    "TaggedData.dev": "用来挑选最好检查点的文件；空：从 train 里留出",
    "TaggedData.test": "最后测试用的文件",
    "TaggedData.illegal": "I-X 前面没有 X 时：拒绝整个文件，或改正标记并报告有多少处",
    "TaggedData.words": "模型读连续文本时，什么算一个词：按空格分开的词，或单个字符",
    "TaggedData.hold_out": "没有 dev 时，留出多大比例的句子",
    "TaggedData.max_length": "最多多少词元；更长的句子分段学习",
    "TaggedData.word_dropout": "训练时遮住一个词的概率，模型只能靠上下文判断",
    "PictureData": "两个 idx 文件（图片和标签），或一个文件夹，每个类别一个子文件夹。",
    "PictureData.train": "每个类别一个子文件夹的文件夹，或 idx 图片文件",
    "PictureData.train_labels": "idx 标签文件；空：train 是文件夹",
    "PictureData.dev": "用来挑选最好检查点的图片；空：从 train 里留出",
    "PictureData.dev_labels": "dev 是 idx 文件时，它的标签",
    "PictureData.test": "最后测试用的图片",
    "PictureData.test_labels": "test 是 idx 文件时，它的标签",
    "PictureData.hold_out": "没有 dev 时，留出多少张图片",
    "PictureData.size": "边长多少像素；0：与第一张图片相同",
    "PictureData.channels": "1 或 3；0：与第一张图片相同",
    "PictureData.shift": "数据增强：随机平移最多这么多像素",
    "PictureData.flip": "数据增强：一半的图片左右翻转",
    # objective
    "TranslationObjective": "预测下一个目标词元的交叉熵。",
    "TranslationObjective.smoothing": "标签平滑：多大比例的概率均摊给所有词元",
    "TranslationObjective.r_drop": "R-Drop：两次不同 dropout 的前向计算之间散度的权重；0：只算一次",
    "NextToken": "预测下一个词元的交叉熵。",
    "NextToken.smoothing": "标签平滑：多大比例的概率均摊给所有词元",
    "LabelObjective": "预测类别的交叉熵；多个标签时逐个计算；预测数值时用平方误差。",
    "LabelObjective.smoothing": "标签平滑：多大比例的概率均摊给所有类别",
    "LabelObjective.balance": "0：每个样本同等看待；1：每个类别同等看待，少见的类别因此更受重视",
    "SpanObjective": "预测答案首尾两个词元的交叉熵。",
    "SpanObjective.no_answer": "不含答案的窗口占多大权重；含答案的窗口为 1",
    "TagObjective": "预测每个词的标记的交叉熵。",
    "TagObjective.smoothing": "标签平滑：多大比例的概率均摊给所有标记",
    "ClassObjective": "预测类别的交叉熵。",
    "ClassObjective.smoothing": "标签平滑：多大比例的概率均摊给所有类别",
    # use
    "DecodingConfig": "怎样搜索译文。",
    "DecodingConfig.beam": "束宽：每一步保留几个候选；1 就是贪心",
    "DecodingConfig.nbest": "每句给出几个译文，好的在前",
    "DecodingConfig.penalty": "长度惩罚：分数除以 n^alpha，或像 2017 年论文那样除以 ((5 + n) / 6)^alpha",
    "DecodingConfig.alpha": "长度惩罚的指数；越大，译文越长",
    "DecodingConfig.stop": "有 `beam` 个译文结束就停，或证明不会再有更好的才停",
    "DecodingConfig.batch": "一次翻译多少句；句子长时会少一些",
    "DecodingConfig.batch_tokens": "一次最多翻译多少源词元，含填充",
    "DecodingConfig.max_source": "源句达到这么多词元就拒绝，而不是截断",
    "DecodingConfig.max_ratio": "译文最长为源句的多少倍……",
    "DecodingConfig.max_extra": "……再加多少词元",
    "DecodingConfig.no_repeat_ngram": "连续这么多个词元的片段不得写两次；0：允许",
    "AnswerConfig": "怎样找答案。",
    "AnswerConfig.longest": "答案最多多少词元",
    "AnswerConfig.no_answer": "文本里没有答案时就说没有（前提是模型学过这一点）",
    "GenerationConfig": "怎样续写。",
    "GenerationConfig.max_new": "最多续写多少词元",
    "GenerationConfig.temperature": "温度：0 总取概率最大的词元，1 按模型的概率抽取",
    "GenerationConfig.top_k": "只在概率最大的 k 个词元里抽取",
    "GenerationConfig.top_p": "只在概率合计达到这个值的那些最可能的词元里抽取",
    "GenerationConfig.repetition_penalty": "大于 1 时，写过的词元不容易再出现；1：不变",
    "GenerationConfig.seed": "抽取的随机种子；种子相同，结果相同",
    "ReadingConfig": "怎样读入文本、图片或录音。",
    "ReadingConfig.batch": "一次读多少个样本",
    # scoring
    "Scoring": "怎样打分。",
    "Scoring.examples": "训练中每次验证看多少个开发集样本",
    "TranslationScoring": "译文怎样与参考译文比较。",
    "TranslationScoring.tokenise": "sacreBLEU 的分词方式；文本已分好词时写 none；默认由语言决定",
}
